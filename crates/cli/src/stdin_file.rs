//! A payload as the standard input of a command.

use std::fs::File;
use std::io::{self, Seek, Write};

/// A file without a name that holds the payload, to be read from its start.
///
/// A file and not a pipe: a command that reads nothing breaks nothing, a command that reads late
/// blocks nothing, and if this process is killed the command still gets the whole payload instead
/// of a part that looks like one.
pub(crate) fn holding(payload: &[u8]) -> io::Result<File> {
    let mut file = anonymous()?;
    file.write_all(payload)?;
    file.rewind()?;
    Ok(file)
}

/// In memory where the system can do that, so that payloads touch no disk.
fn anonymous() -> io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{MemfdFlags, memfd_create};
        if let Ok(descriptor) = memfd_create("leaseline-payload", MemfdFlags::CLOEXEC) {
            return Ok(descriptor.into());
        }
    }
    tempfile::tempfile()
}
