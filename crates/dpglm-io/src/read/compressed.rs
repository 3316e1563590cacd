//! Text files as they are or compressed: told by their first bytes, not by their names.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::error::{Error, Result};

/// A buffer that holds many lines.
const BUFFER: usize = 1 << 16;

/// Opens a text file and undoes gzip, xz or bzip2.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read>> {
    let file = File::open(path).map_err(|e| Error::open(path, e))?;
    let mut input = BufReader::with_capacity(BUFFER, file);
    let first = first_bytes(&mut input).map_err(|e| Error::read(path, e))?;
    Ok(match first {
        [0x1f, 0x8b, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(input)),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Box::new(bzip2::bufread::MultiBzDecoder::new(input)),
        [0xfd, b'7', b'z', b'X', b'Z', 0] => Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(input)),
        _ => Box::new(input),
    })
}

fn first_bytes(input: &mut BufReader<File>) -> io::Result<&[u8]> {
    let filled = input.fill_buf()?;
    Ok(&filled[..filled.len().min(6)])
}
