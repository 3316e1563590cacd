//! Artefacts and secrets out: a file is either written whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use tempfile::{Builder, NamedTempFile};

use crate::error::{Error, Result};

/// Writes a file by way of a temporary one in the same folder, which takes its name only when every byte is on disk.
///
/// Until then a file that stood there before is untouched, whether the disk fills up or the program is interrupted.
/// On failure the temporary file is removed. A path that is no regular file, such as a pipe, is written to directly.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    // A link is followed, so that the file it points to is replaced and not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let existing = fs::metadata(&target).ok();
    if existing.as_ref().is_some_and(|m| !m.is_file() && !m.is_dir()) {
        let mut file = OpenOptions::new().write(true).open(&target).map_err(|e| failed(path, e))?;
        return file.write_all(bytes).and_then(|()| file.flush()).map_err(|e| failed(path, e));
    }
    if existing.as_ref().is_some_and(fs::Metadata::is_dir) {
        return Err(failed(path, io::Error::from(io::ErrorKind::IsADirectory)));
    }
    let written = written_beside(&target, bytes).and_then(|file| {
        if let Some(metadata) = existing {
            file.as_file().set_permissions(metadata.permissions())?;
        }
        Ok(file.persist(&target)?)
    });
    written.map_err(|error| failed(path, error))?;
    sync_folder(&target);
    Ok(())
}

/// Finds out whether a file of about `size` bytes can be written here, and leaves everything as it was: asked before a
/// budget is spent on what could not be kept.
pub fn check_writable(path: &Path, size: usize) -> Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let existing = fs::metadata(&target).ok();
    if existing.as_ref().is_some_and(fs::Metadata::is_dir) {
        return Err(failed(path, io::Error::from(io::ErrorKind::IsADirectory)));
    }
    if existing.is_some_and(|m| !m.is_file()) {
        // A pipe or a device: whether it takes the bytes shows when they come.
        return OpenOptions::new().write(true).open(&target).map(drop).map_err(|e| failed(path, e));
    }
    written_beside(&target, &vec![b' '; size]).and_then(NamedTempFile::close).map_err(|e| failed(path, e))
}

/// Writes a new file that only its owner can read. One that exists is never overwritten: it may hold the only copy of a key.
pub fn write_secret(path: &Path, text: &str) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => {
            let remedy = "it may hold the only copy of a secret, so it is left as it is; name a new file";
            Error::Io { path: path.to_path_buf(), action: "written", source, remedy }
        }
        _ => failed(path, source),
    })
}

/// A hidden file in the folder of another, its bytes on disk. It is removed when it is dropped.
fn written_beside(target: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = Builder::new();
    // As any new file: what the user's mask leaves of it.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Makes the new name itself durable, where the system can do that.
fn sync_folder(path: &Path) {
    if let Some(folder) = path.parent()
        && let Ok(folder) = File::open(folder)
    {
        let _ = folder.sync_all();
    }
}

fn failed(path: &Path, source: io::Error) -> Error {
    let remedy = match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the disk is full; no file was left behind; free some space or write elsewhere"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "no file was left behind; choose a folder you may write to"
        }
        io::ErrorKind::NotFound => "no file was left behind; create the folder first",
        io::ErrorKind::IsADirectory => "give a file name, not a folder",
        _ => "no file was left behind; write elsewhere",
    };
    Error::Io { path: path.to_path_buf(), action: "written", source, remedy }
}
