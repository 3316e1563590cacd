//! How much memory there is, and what it goes to.
//!
//! | part | what |
//! | --- | --- |
//! | [`PROGRAM`] | the program itself, buffers of readers |
//! | sums | what passes add up, for each thread: some matrices of columns by columns |
//! | half of the rest | blocks of rows, as many as are in memory at a time |
//! | the other half | what is derived from rows and kept from pass to pass; while a table is read, open columns and ids of units |
//!
//! Everything that decides is public: the limit, the number of columns and how they are stored.

use std::fs;
use std::path::{Path, PathBuf};

use crate::encode::Record;
use crate::error::{Error, Place, Result};

/// The program itself, and what readers and writers hold.
const PROGRAM: usize = 96 << 20;
/// The rows of a block at least.
const FEWEST: usize = 256;
/// Bytes of a block's design at most: more is no faster.
const BLOCK: usize = 4 << 20;
/// Numbers beside its entries that a pass derives from a row, and more of them for each linear predictor.
const DERIVED: (usize, usize) = (24, 8);
/// Matrices of columns by columns that a thread holds.
const MATRICES: usize = 12;

/// What a large table may take.
#[derive(Debug, Clone)]
pub struct Room {
    /// Bytes of memory.
    pub memory: usize,
    /// Where the scratch file goes; `None` to read the source again in every pass.
    pub scratch: Option<PathBuf>,
    /// The most blocks that are in memory at a time.
    pub blocks: usize,
    /// Linear predictors per row.
    pub outputs: usize,
}

/// How the memory is used.
pub(super) struct Share {
    /// Rows of a block.
    pub rows: usize,
    /// Bytes that are left.
    pub spare: usize,
}

impl Room {
    pub(super) fn reads_again(&self) -> bool {
        self.scratch.is_none()
    }

    /// How the memory is used for rows like these.
    pub(super) fn share(&self, record: &Record, path: &Path) -> Result<Share> {
        let (width, outputs) = (record.width(), self.outputs);
        // Entries may have to be clamped, or measured anew as doubles, which makes a second design.
        let design = 2 * record.bytes_in_memory().max(4 * width);
        let row = design + 2 * record.bytes() + 8 * (DERIVED.0 + DERIVED.1 * outputs);
        let triangle = outputs * (outputs + 1) / 2;
        let sums = 8 * MATRICES * triangle * width * width * self.blocks;
        let fixed = PROGRAM + sums;
        let least = fixed + 2 * self.blocks * row * FEWEST;
        if self.memory < least {
            return Err(Error::file(
                path,
                Place::Whole,
                format!(
                    "{} of memory are too little for {width} encoded columns: {} are needed, however many rows there are",
                    in_words(self.memory),
                    in_words(least)
                ),
                "allow more memory, or ignore columns",
            ));
        }
        let half = (self.memory - fixed) / 2;
        // Blocks of wide tables have more rows than columns: each of them costs some products of matrices.
        let most = (BLOCK / record.bytes_in_memory().max(1)).max(4 * width).max(FEWEST);
        let rows = (half / (self.blocks * row)).min(most);
        Ok(Share { rows, spare: self.memory - fixed - rows * self.blocks * row })
    }
}

/// The memory that the system has to give, if it says so.
pub fn available_memory() -> Option<usize> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    let system = kibibytes.checked_mul(1024)?;
    // A container may have less.
    let limit = |file: &str| -> Option<usize> { fs::read_to_string(file).ok()?.trim().parse().ok() };
    let group = limit("/sys/fs/cgroup/memory.max")
        .map(|most| most.saturating_sub(limit("/sys/fs/cgroup/memory.current").unwrap_or(0)));
    Some(group.map_or(system, |group| system.min(group)))
}

/// A number of bytes as people write it: `1GiB`, `500M`, `2e9`.
pub fn bytes(text: &str) -> Option<usize> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+')))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kib" => 1024.0,
        "m" | "mib" => f64::from(1_u32 << 20),
        "g" | "gib" => f64::from(1_u32 << 30),
        "t" | "tib" => f64::from(1_u32 << 30) * 1024.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        _ => return None,
    };
    let bytes = number.parse::<f64>().ok()? * factor;
    (1.0..1e18).contains(&bytes).then_some(bytes as usize)
}

/// So many bytes, rounded up.
fn in_words(bytes: usize) -> String {
    match bytes.div_ceil(1 << 20) {
        _ if bytes < 1 << 20 => format!("{bytes} bytes"),
        mebibytes if mebibytes < 10 << 10 => format!("{mebibytes} MiB"),
        mebibytes => format!("{} GiB", mebibytes.div_ceil(1 << 10)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, size) in [
            ("1GiB", 1 << 30),
            ("512M", 512 << 20),
            ("2e9", 2_000_000_000),
            ("1.5 GB", 1_500_000_000),
            ("64 kib", 65_536),
        ] {
            assert_eq!(bytes(text), Some(size), "{text}");
        }
        for text in ["", "GiB", "-1", "1 parsec", "0", "1e99", "nan"] {
            assert_eq!(bytes(text), None, "{text}");
        }
        assert_eq!((in_words(3_000), in_words(3 << 20)), ("3000 bytes".into(), "3 MiB".into()));
        assert_eq!(in_words(20 << 30), "20 GiB");
    }
}
