//! `math.random`, with the numbers of Redis.

use mlua::ffi;

use super::bridge;
use super::stack::State;
use crate::random::Random;

/// `math.random`.
///
/// # Safety
///
/// Called by Lua.
pub(super) unsafe extern "C-unwind" fn random(lua: State) -> i32 {
    let number = bridge::of(lua).next_random();
    match ffi::lua_gettop(lua) {
        0 => ffi::lua_pushnumber(lua, number),
        1 => {
            let high = int(ffi::luaL_checkinteger(lua, 1));
            if high < 1 {
                return ffi::luaL_argerror(lua, 1, c"interval is empty".as_ptr());
            }
            ffi::lua_pushnumber(lua, (number * f64::from(high)).floor() + 1.0);
        }
        2 => {
            let low = int(ffi::luaL_checkinteger(lua, 1));
            let high = int(ffi::luaL_checkinteger(lua, 2));
            if low > high {
                return ffi::luaL_argerror(lua, 2, c"interval is empty".as_ptr());
            }
            // In 32 bits, as in C: a width beyond that wraps round.
            let width = high.wrapping_sub(low).wrapping_add(1);
            ffi::lua_pushnumber(lua, (number * f64::from(width)).floor() + f64::from(low));
        }
        _ => return ffi::luaL_error(lua, c"wrong number of arguments".as_ptr()),
    }
    1
}

/// `math.randomseed`.
///
/// # Safety
///
/// As [`random`].
pub(super) unsafe extern "C-unwind" fn random_seed(lua: State) -> i32 {
    let seed = int(ffi::luaL_checkinteger(lua, 1));
    bridge::of(lua).set_random(Random::seeded(seed));
    0
}

/// C's conversion of `lua_Integer` to `int`.
fn int(value: ffi::lua_Integer) -> i32 {
    value as i32
}
