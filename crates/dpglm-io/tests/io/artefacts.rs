//! A file is written whole or not at all.

use std::fs;
use std::path::Path;
use std::process::Command;

use dpglm_io::{check_writable, write_atomically};

use crate::support::*;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_written_and_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.json");
    write_atomically(&path, b"one").unwrap();
    write_atomically(&path, b"two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert_eq!(names(folder.path()), ["fit.json"]);
}

#[test]
fn a_bare_file_name_goes_to_the_working_folder() {
    let name = format!("dpglm-io-{}.json", std::process::id());
    write_atomically(Path::new(&name), b"here").unwrap();
    assert_eq!(fs::read(&name).unwrap(), b"here");
    fs::remove_file(&name).unwrap();
}

#[cfg(unix)]
#[test]
fn a_link_is_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real.json"), folder.path().join("link.json"));
    fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    write_atomically(&link, b"new").unwrap();
    assert_eq!(fs::read(&real).unwrap(), b"new");
    assert!(fs::symlink_metadata(&link).unwrap().file_type().is_symlink());
}

#[test]
fn a_folder_that_is_not_there_or_is_the_target() {
    let folder = tempfile::tempdir().unwrap();
    let m = message(write_atomically(&folder.path().join("no/fit.json"), b"x"));
    says(&m, &["no/fit.json", "cannot be written", "create the folder"]);
    says(&message(write_atomically(folder.path(), b"x")), &["not a folder"]);
    assert!(names(folder.path()).is_empty());
}

#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_written() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let path = folder.path().join("fit.json");
    match write_atomically(&path, b"x") {
        Err(error) => says(&error.to_string(), &["fit.json", "cannot be written", "may write to"]),
        Ok(()) => println!("skipped: this user may write anywhere"),
    }
    // What a user with every right meets too: a file system that is not writable at all.
    let m = message(write_atomically(Path::new("/proc/fit.json"), b"x"));
    says(&m, &["/proc/fit.json", "cannot be written", "no file was left behind"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device() {
    let m = message(write_atomically(Path::new("/dev/full"), b"x"));
    says(&m, &["/dev/full", "cannot be written", "the disk is full"]);
    assert!(!fs::metadata("/dev/full").unwrap().is_file(), "the device is still a device");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_keeps_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let small = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "none"])
        .arg(folder.path())
        .output()
        .is_ok_and(|o| o.status.success());
    if !small {
        println!("skipped: a small file system cannot be mounted by this user");
        return;
    }
    let path = folder.path().join("fit.json");
    write_atomically(&path, b"old").unwrap();
    let result = write_atomically(&path, &vec![b'x'; 1 << 20]);
    let (left, old) = (names(folder.path()), fs::read(&path).unwrap());
    assert!(Command::new("umount").arg(folder.path()).status().unwrap().success());
    says(&message(result), &["fit.json", "the disk is full", "no file was left behind", "free some space"]);
    assert_eq!((left, old), (vec!["fit.json".to_owned()], b"old".to_vec()));
}

#[test]
fn a_place_is_tried_before_it_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fit.json");
    fs::write(&path, "old").unwrap();
    check_writable(&path, 1000).unwrap();
    assert_eq!((names(folder.path()), fs::read(&path).unwrap()), (vec!["fit.json".into()], b"old".to_vec()));
    check_writable(&folder.path().join("new.json"), 10).unwrap();
    assert_eq!(names(folder.path()), ["fit.json"]);
    assert!(message(check_writable(&folder.path().join("none/fit.json"), 1)).contains("create the folder"));
    assert!(message(check_writable(folder.path(), 1)).contains("not a folder"));
}
