//! What a program without an operating system must bring along.

use core::panic::PanicInfo;

use dlmalloc::GlobalDlmalloc;

#[global_allocator]
static ALLOCATOR: GlobalDlmalloc = GlobalDlmalloc;

/// A panic is a bug or exhausted memory: the instance traps, and its host discards it. The message
/// has nowhere to go, and the code to format it would double the component.
#[panic_handler]
fn panic(_info: &PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
