//! x
use leaseline_core::capability::*;
/// x
pub struct Embedded;
impl Embedded { /// x
 pub fn new() -> Self { Self } }
impl Redis for Embedded {
    async fn execute(&self, _: &[&[u8]], _: u32) -> Reply { Err(RedisError::Timeout) }
    async fn pipeline(&self, _: &[&[&[u8]]], _: u32) -> PipelineReply { Err(RedisError::Timeout) }
}
