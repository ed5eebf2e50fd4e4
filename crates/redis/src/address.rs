//! Where a Redis is, parsed from a URL, and how to print it without its secrets.

mod layout;
mod several;

use std::borrow::Cow;
use std::fmt;

use redis::{ConnectionAddr, IntoConnectionInfo};

use crate::error::OpenError;

pub(crate) use layout::{Credentials, Endpoint, Layout, Sentinels, Target};

/// For messages.
pub(crate) const ACCEPTED_SCHEMES: &str = "redis://HOST:PORT/DB, redis+unix:///PATH?db=DB, \
     redis+cluster://HOST:PORT,… and redis+sentinel://HOST:PORT,…/SERVICE/DB; with TLS rediss://, \
     rediss+cluster:// and rediss+sentinel://";

/// A parsed address. `Display` and `Debug` never show the credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) layout: Layout,
    pub(crate) database: i64,
    pub(crate) credentials: Option<Credentials>,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let database = self.database;
        match &self.layout {
            Layout::One(Endpoint::Alone(target) | Endpoint::Member(target)) => match target {
                Target::Tcp { .. } => write!(f, "redis://{target}/{database}"),
                Target::Tls { .. } => write!(f, "rediss://{target}/{database}"),
                Target::Unix(_) => write!(f, "redis+unix://{target}?db={database}"),
            },
            Layout::One(Endpoint::Master(sentinels)) => {
                several::print(f, "sentinel", &sentinels.targets)?;
                write!(f, "/{}/{database}", sentinels.service)
            }
            Layout::Cluster(targets) => several::print(f, "cluster", targets),
        }
    }
}

impl Address {
    /// Parses a URL. redis-rs does the parsing; this decides what is accepted, and keeps every
    /// part of the input out of the errors, because any part may be a misplaced password.
    pub(crate) fn parse(url: &str) -> Result<Self, OpenError> {
        let scheme = accepted_scheme(url)?;
        match scheme {
            "redis+cluster" | "rediss+cluster" => several::cluster(url),
            "redis+sentinel" | "rediss+sentinel" => several::sentinel(url),
            _ => {
                let (target, database, credentials) = Self::parse_one(url, scheme)?;
                Ok(Self {
                    layout: Layout::One(Endpoint::Alone(target)),
                    database,
                    credentials,
                })
            }
        }
    }

    /// An address with one target.
    fn parse_one(url: &str, scheme: &str) -> Result<(Target, i64, Option<Credentials>), OpenError> {
        if scheme != "redis+unix" {
            reject_misplaced_at(url)?;
        }
        // TLS is ours; redis-rs would want its own to be compiled in before it reads `rediss`.
        let (tls, plain) = match url.strip_prefix("rediss://") {
            Some(rest) => (true, format!("redis://{rest}")),
            None => (false, url.to_owned()),
        };
        let parsed = redis::parse_redis_url(&plain).ok_or_else(|| invalid("it does not parse"))?;
        reject_unknown_parameters(scheme, parsed.query_pairs().map(|(name, _)| name))?;
        reject_fragment(parsed.fragment())?;
        let info = parsed
            .into_connection_info()
            .map_err(|error| invalid(describe(&error)))?;
        let settings = info.redis_settings();
        let target = match info.addr() {
            ConnectionAddr::Tcp(host, port) => {
                let (host, port) = (host.clone(), *port);
                if tls {
                    Target::Tls { host, port }
                } else {
                    Target::Tcp { host, port }
                }
            }
            ConnectionAddr::Unix(path) => Target::Unix(path.clone()),
            _ => return Err(invalid("this kind of address is not supported")),
        };
        let database = settings.db();
        if database < 0 {
            return Err(invalid("the database number is negative"));
        }
        let user = settings.username().map(str::to_owned);
        let credentials = match settings.password() {
            Some(password) => Some(Credentials {
                user,
                password: password.to_owned(),
            }),
            None if user.is_some() => {
                return Err(invalid(
                    "it has a user but no password (a password alone is written :PASSWORD@)",
                ));
            }
            None => None,
        };
        Ok((target, database, credentials))
    }
}

/// The scheme, if it is one of ours.
fn accepted_scheme(url: &str) -> Result<&str, OpenError> {
    let Some((scheme, _)) = url.split_once("://") else {
        return Err(invalid(format!(
            "it has no scheme; accepted are {ACCEPTED_SCHEMES}"
        )));
    };
    match scheme {
        "redis" | "rediss" | "redis+unix" | "redis+cluster" | "rediss+cluster"
        | "redis+sentinel" | "rediss+sentinel" => Ok(scheme),
        // A password with "://" in it is not worth a thought, one that comes before it is: print
        // only what can be a scheme.
        _ if is_scheme(scheme) => Err(OpenError::UnknownScheme {
            scheme: scheme.to_owned(),
        }),
        _ => Err(invalid(format!(
            "its scheme is none; accepted are {ACCEPTED_SCHEMES}"
        ))),
    }
}

fn is_scheme(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
    (1..=20).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(allowed)
}

/// A password with `/`, `?` or `#` in it ends the authority early: `redis://user:12/34@host`
/// would quietly mean host `user`, port 12. The `@` left behind gives it away.
fn reject_misplaced_at(url: &str) -> Result<(), OpenError> {
    let after_scheme = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority_end = after_scheme
        .find(['/', '?', '#'])
        .unwrap_or(after_scheme.len());
    if after_scheme[authority_end..].contains('@') {
        return Err(invalid(
            "there is an @ after the host; percent-encode / ? # and @ in user and password",
        ));
    }
    Ok(())
}

/// What other clients read from the query must not be dropped quietly: `?password=` would connect
/// without one. Names are not quoted either; a password may stand in their place.
fn reject_unknown_parameters<'a>(
    scheme: &str,
    names: impl Iterator<Item = Cow<'a, str>>,
) -> Result<(), OpenError> {
    let (known, reason): (&[&str], _) = if scheme == "redis+unix" {
        (
            &["db", "user", "pass"],
            "it has an unknown parameter after the ?; known are db, user and pass",
        )
    } else {
        (
            &[],
            "it has parameters after a ?; the database is written /DB after the host, user and \
             password USER:PASSWORD@ before it",
        )
    };
    for name in names {
        if !known.contains(&&*name) {
            return Err(invalid(reason));
        }
    }
    Ok(())
}

/// redis-rs knows one fragment, which turns the check of certificates off.
fn reject_fragment(fragment: Option<&str>) -> Result<(), OpenError> {
    match fragment {
        None => Ok(()),
        Some("insecure") => Err(invalid(
            "#insecure is not supported; trust the server's own authority with \
             Connector::tls_root_certificates instead",
        )),
        Some(_) => Err(invalid("it has a # and more after the address")),
    }
}

fn invalid(reason: impl Into<String>) -> OpenError {
    OpenError::InvalidAddress {
        reason: reason.into(),
    }
}

/// redis-rs's reason without its detail, which quotes the input.
fn describe(error: &redis::RedisError) -> String {
    let text = error.to_string();
    // Only the fixed part is kept: these are the messages that redis-rs 1.8 still has for
    // a URL once it has come this far.
    const KNOWN: [&str; 5] = [
        "Cannot connect to a wildcard address (0.0.0.0 or ::)",
        "Missing hostname",
        "Invalid database number",
        "Missing path",
        "is not valid UTF-8",
    ];
    KNOWN
        .iter()
        .find(|known| text.contains(*known))
        .map_or_else(
            || "it does not parse".to_owned(),
            |known| (*known).to_owned(),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Address {
        Address::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"))
    }

    fn target(address: &Address) -> Target {
        match &address.layout {
            Layout::One(Endpoint::Alone(target)) => target.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn accepted_forms() {
        let plain = parse("redis://127.0.0.1");
        assert_eq!(
            target(&plain),
            Target::Tcp {
                host: "127.0.0.1".into(),
                port: 6379
            }
        );
        assert_eq!((plain.database, plain.credentials), (0, None));

        let full = parse("redis://worker:p%40ss@cache.example:7000/3");
        assert_eq!(
            target(&full),
            Target::Tcp {
                host: "cache.example".into(),
                port: 7000
            }
        );
        assert_eq!(full.database, 3);
        let credentials = full.credentials.expect("credentials");
        assert_eq!(credentials.user.as_deref(), Some("worker"));
        assert_eq!(credentials.password, "p@ss");

        assert_eq!(
            target(&parse("rediss://h")),
            Target::Tls {
                host: "h".into(),
                port: 6379
            }
        );
        let unix = parse("redis+unix:///run/redis.sock?db=2&user=u&pass=secret");
        assert_eq!(target(&unix), Target::Unix("/run/redis.sock".into()));
        assert_eq!(unix.to_string(), "redis+unix:///run/redis.sock?db=2");
        assert_eq!(parse("redis://[::1]:7/1").to_string(), "redis://[::1]:7/1");
    }

    #[test]
    fn refused_schemes_say_which_are_accepted() {
        for url in ["http://h", "valkey://h", "unix:///x"] {
            let error = Address::parse(url).expect_err("unknown");
            assert!(matches!(error, OpenError::UnknownScheme { .. }), "{error}");
            assert!(error.to_string().contains("rediss://"), "{error}");
        }
    }

    /// Nothing in an address is dropped quietly, and the message says where it belongs.
    #[test]
    fn unknown_parameters_are_refused_with_the_right_place() {
        for (url, place) in [
            ("redis://h?password=x", "USER:PASSWORD@"),
            ("rediss://h/2?db=1", "/DB"),
            ("redis://h?protocol=3", "USER:PASSWORD@"),
            ("redis+unix:///s?password=x", "db, user and pass"),
            ("redis+unix:///s?protocol=2", "db, user and pass"),
        ] {
            let error = Address::parse(url).expect_err(url);
            assert!(
                matches!(error, OpenError::InvalidAddress { .. }),
                "{url}: {error}"
            );
            assert!(error.to_string().contains(place), "{url}: {error}");
        }
        // An empty query holds nothing.
        assert_eq!(parse("redis://h?").to_string(), "redis://h:6379/0");
    }

    #[test]
    fn tls_addresses_have_all_parts() {
        let address = parse("rediss://worker:p%40ss@[::1]:7000/3");
        assert_eq!(address.to_string(), "rediss://[::1]:7000/3");
        let credentials = address.credentials.expect("credentials");
        assert_eq!(credentials.user.as_deref(), Some("worker"));
        assert_eq!(credentials.password, "p@ss");
        let error = Address::parse("rediss://h#insecure").expect_err("insecure");
        assert!(
            error.to_string().contains("tls_root_certificates"),
            "{error}"
        );
    }

    /// Every way to get an address wrong, with a secret in it: no error shows the secret.
    #[test]
    fn no_error_shows_a_secret() {
        let urls = [
            "hunter2",
            "hunter2@host:6379",
            ":hunter2@host",
            "user:hunter2@host://x",
            "ftp://user:hunter2@host",
            "redis+cluster://user:hunter2@host/1",
            "redis+cluster://user:hunter2@host:notaport",
            "redis+cluster://user:hunter2@host,",
            "redis+cluster://hunter2@host",
            "redis+cluster://user:hunter2/x@host",
            "redis+cluster://host?password=hunter2",
            "redis+sentinel://user:hunter2@host",
            "redis+sentinel://user:hunter2@host/s/notadb",
            "redis+sentinel://user:hunter2@host/s/0/more",
            "redis+sentinel://host/s?sentinel_user=hunter2",
            "redis+sentinel://host/s?password=hunter2",
            "redis+sentinel://host/s?sentinel_password=hunter2#x",
            "redis://user:hunter2@host:notaport",
            "redis://user:hunter2@host:99999",
            "redis://user:hunter2@host/notadb",
            "redis://user:hunter2@host/-1",
            "redis://user:hunter2@",
            "redis://user:hunter2@0.0.0.0",
            "redis://user:hunter2/more@host:1",
            "redis://user:12/hunter2@host:1",
            "redis://user:12?hunter2@host:1",
            "redis://user:12#hunter2@host:1",
            "redis://user:hunter2%FF@host",
            "redis://hunter2@host",
            "redis://host?protocol=hunter2",
            "redis://host?password=hunter2",
            "redis://host?hunter2",
            "rediss://host/1?pass=hunter2",
            "redis://host#hunter2",
            "redis://host:1#insecure",
            "redis+unix:///sock?password=hunter2",
            "redis+unix:///sock?pass=x&hunter2",
            "redis+unix:///sock?db=1#hunter2",
            "rediss://user:hunter2@host#insecure",
            "rediss://user:hunter2@host#hunter2",
            "redis+unix://hunter2/sock",
            "redis+unix:///sock?db=hunter2&pass=hunter2",
            "redis+unix:///sock?user=hunter2",
        ];
        for url in urls {
            let error = Address::parse(url).expect_err(url);
            assert!(!error.to_string().contains("hunter2"), "{url}: {error}");
            assert!(
                !format!("{error:?}").contains("hunter2"),
                "{url}: {error:?}"
            );
        }
    }

    #[test]
    fn a_parsed_address_does_not_show_its_credentials() {
        for url in [
            "redis://user:hunter2@host:1/2",
            "redis+unix:///s?user=user&pass=hunter2",
            "redis+cluster://user:hunter2@host:1,host:2",
            "redis+sentinel://user:hunter2@host/s?sentinel_user=user&sentinel_password=hunter2",
        ] {
            let address = parse(url);
            for text in [
                address.to_string(),
                format!("{address:?}"),
                format!("{address:#?}"),
            ] {
                assert!(
                    !text.contains("hunter2") && !text.contains("user"),
                    "{text}"
                );
            }
        }
    }
}
