//! The members of a zip archive: enough of the format for `.npz` files.
//!
//! Members are found by the central directory at the archive's end. They are stored or deflated; 64-bit sizes are
//! understood.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::error::{Error, Place, Result};

/// An open archive.
pub(crate) struct Archive {
    path: PathBuf,
    file: File,
    length: u64,
    members: Vec<Member>,
}

struct Member {
    name: Vec<u8>,
    deflated: bool,
    checksum: u32,
    packed: u64,
    size: u64,
    header: u64,
}

/// The end record is 22 bytes and a comment of up to 65,535.
const LONGEST_END: u64 = 22 + 65_535;
/// A directory longer than this is no directory of arrays.
const LONGEST_DIRECTORY: u64 = 1 << 24;

impl Archive {
    /// Opens an archive and reads its directory.
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::open(path, e))?;
        let length = file.metadata().map_err(|e| Error::read(path, e))?.len();
        let mut archive = Self { path: path.to_path_buf(), file, length, members: Vec::new() };
        let directory = archive.directory()?;
        archive.members =
            parse_directory(&directory).ok_or_else(|| archive.damaged("its directory is broken"))?;
        Ok(archive)
    }

    /// A member's bytes, unpacked; `None` if there is none of that name.
    pub fn member(&mut self, name: &str) -> Result<Option<Vec<u8>>> {
        let Some(found) = self.members.iter().find(|m| m.name == name.as_bytes()) else { return Ok(None) };
        let &Member { deflated, checksum, packed, size, header, .. } = found;
        let local = self.bytes(header, 30)?;
        if !local.starts_with(b"PK\x03\x04") {
            return Err(self.damaged("a member is not where its directory says"));
        }
        let start = header + 30 + u64::from(u16_at(&local, 26)) + u64::from(u16_at(&local, 28));
        if start.checked_add(packed).is_none_or(|end| end > self.length) {
            return Err(self.damaged("it is cut short"));
        }
        self.file.seek(SeekFrom::Start(start)).map_err(|e| Error::read(&self.path, e))?;
        let packed = BufReader::with_capacity(1 << 16, (&self.file).take(packed));
        let mut out = Vec::new();
        // One byte more than announced, to notice a member that goes on.
        let read = match deflated {
            true => flate2::bufread::DeflateDecoder::new(packed)
                .take(size.saturating_add(1))
                .read_to_end(&mut out),
            false => packed.take(size.saturating_add(1)).read_to_end(&mut out),
        };
        read.map_err(|e| Error::read(&self.path, e))?;
        if out.len() as u64 != size {
            return Err(self.damaged("a member is not as long as its directory says"));
        }
        let mut sum = flate2::Crc::new();
        sum.update(&out);
        if sum.sum() != checksum {
            return Err(self.damaged("a member's checksum does not match"));
        }
        Ok(Some(out))
    }

    fn directory(&mut self) -> Result<Vec<u8>> {
        let tail_length = self.length.min(LONGEST_END);
        let tail = self.bytes(self.length - tail_length, tail_length)?;
        let no_end = || "it has no directory at its end: it may be cut short";
        let at = tail.windows(4).rposition(|w| w == b"PK\x05\x06").ok_or_else(|| self.damaged(no_end()))?;
        let end = tail.get(at..at + 22).ok_or_else(|| self.damaged(no_end()))?;
        let (mut size, mut offset) = (u64::from(u32_at(end, 12)), u64::from(u32_at(end, 16)));
        let end_at = self.length - tail_length + at as u64;
        if (size == u64::from(u32::MAX) || offset == u64::from(u32::MAX)) && end_at >= 20 {
            let locator = self.bytes(end_at - 20, 20)?;
            let long = if locator.starts_with(b"PK\x06\x07") {
                self.bytes(u64_at(&locator, 8), 56)?
            } else {
                locator
            };
            if !long.starts_with(b"PK\x06\x06") {
                return Err(self.damaged("its long directory is broken"));
            }
            (size, offset) = (u64_at(&long, 40), u64_at(&long, 48));
        }
        if size > LONGEST_DIRECTORY {
            return Err(self.damaged("its directory is too long"));
        }
        self.bytes(offset, size)
    }

    fn bytes(&mut self, start: u64, count: u64) -> Result<Vec<u8>> {
        if start.checked_add(count).is_none_or(|end| end > self.length) {
            return Err(self.damaged("it is cut short"));
        }
        let mut bytes = vec![0; count as usize];
        self.file.seek(SeekFrom::Start(start)).map_err(|e| Error::read(&self.path, e))?;
        self.file.read_exact(&mut bytes).map_err(|e| Error::read(&self.path, e))?;
        Ok(bytes)
    }

    fn damaged(&self, what: &str) -> Error {
        Error::file(
            &self.path,
            Place::Whole,
            format!("not a whole .npz archive: {what}"),
            "fetch the file or save it again with scipy.sparse.save_npz",
        )
    }
}

fn parse_directory(mut rest: &[u8]) -> Option<Vec<Member>> {
    let mut members = Vec::new();
    while !rest.is_empty() {
        let fixed = rest.get(..46).filter(|fixed| fixed.starts_with(b"PK\x01\x02"))?;
        let [name, extra, comment] = [28, 30, 32].map(|at| usize::from(u16_at(fixed, at)));
        let variable = rest.get(46..46 + name + extra + comment)?;
        let mut member = Member {
            name: variable[..name].to_vec(),
            deflated: match u16_at(fixed, 10) {
                0 => false,
                8 => true,
                _ => return None,
            },
            checksum: u32_at(fixed, 16),
            packed: u64::from(u32_at(fixed, 20)),
            size: u64::from(u32_at(fixed, 24)),
            header: u64::from(u32_at(fixed, 42)),
        };
        long_sizes(&mut member, &variable[name..name + extra])?;
        members.push(member);
        rest = &rest[46 + name + extra + comment..];
    }
    Some(members)
}

/// Takes sizes that do not fit 32 bits from the member's extra fields, in the order the format gives them.
fn long_sizes(member: &mut Member, mut extra: &[u8]) -> Option<()> {
    while extra.len() >= 4 {
        let (kind, length) = (u16_at(extra, 0), usize::from(u16_at(extra, 2)));
        let mut field = extra.get(4..4 + length)?;
        if kind == 1 {
            for value in [&mut member.size, &mut member.packed, &mut member.header] {
                if *value == u64::from(u32::MAX) {
                    *value = u64_at(field.get(..8)?, 0);
                    field = &field[8..];
                }
            }
        }
        extra = &extra[4 + length..];
    }
    Some(())
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
