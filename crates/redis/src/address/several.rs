//! Addresses that name several servers: the nodes of a cluster, or sentinels.

use std::fmt;
use std::sync::Arc;

use super::{
    Address, Credentials, Endpoint, Layout, Sentinels, Target, invalid, reject_fragment,
    reject_misplaced_at,
};
use crate::error::OpenError;

/// Where sentinels listen, unless told otherwise.
const SENTINEL_PORT: u16 = 26379;

const SENTINEL_FORM: &str = "a sentinel address is redis+sentinel://HOST:PORT,…/SERVICE/DB with the \
     parameters sentinel_user and sentinel_password";

/// `redis+cluster://[USER:PASSWORD@]HOST[:PORT][,HOST[:PORT]…]`
pub(super) fn cluster(url: &str) -> Result<Address, OpenError> {
    let parts = Parts::split(url)?;
    if !matches!(parts.rest, "" | "/" | "/0") {
        return Err(invalid(
            "a cluster has only database 0, and its address ends after the last host",
        ));
    }
    let (targets, credentials) = parts.targets(None)?;
    Ok(Address {
        layout: Layout::Cluster(targets),
        database: 0,
        credentials,
    })
}

/// `redis+sentinel://[USER:PASSWORD@]HOST[:PORT][,…]/SERVICE[/DB][?sentinel_user=…]`. The user
/// before the hosts is that of the master.
pub(super) fn sentinel(url: &str) -> Result<Address, OpenError> {
    let parts = Parts::split(url)?;
    let (targets, credentials) = parts.targets(Some(SENTINEL_PORT))?;
    let rest = redis::parse_redis_url(&format!("redis://host{}", parts.rest))
        .ok_or_else(|| invalid("it does not parse"))?;
    reject_fragment(rest.fragment())?;
    let path: Vec<&str> = rest.path().trim_matches('/').split('/').collect();
    let (service, database) = match path[..] {
        [service] => (service, 0),
        [service, database] => (
            service,
            database
                .parse()
                .ok()
                .filter(|database| *database >= 0)
                .ok_or_else(|| invalid("the database after the service is no number"))?,
        ),
        _ => return Err(invalid(SENTINEL_FORM)),
    };
    if service.is_empty() || service.contains('%') {
        return Err(invalid(SENTINEL_FORM));
    }
    let (mut user, mut password) = (None, None);
    for (name, value) in rest.query_pairs() {
        match &*name {
            "sentinel_user" => user = Some(value.into_owned()),
            "sentinel_password" => password = Some(value.into_owned()),
            _ => return Err(invalid(SENTINEL_FORM)),
        }
    }
    let own = match (user, password) {
        (user, Some(password)) => Some(Credentials { user, password }),
        (Some(_), None) => {
            return Err(invalid("it has a sentinel_user but no sentinel_password"));
        }
        (None, None) => None,
    };
    Ok(Address {
        layout: Layout::One(Endpoint::Master(Arc::new(Sentinels {
            targets,
            service: service.to_owned(),
            credentials: own,
        }))),
        database,
        credentials,
    })
}

/// `redis+KIND://HOST:PORT,…`
pub(super) fn print(f: &mut fmt::Formatter<'_>, kind: &str, targets: &[Target]) -> fmt::Result {
    let tls = targets
        .iter()
        .any(|target| matches!(target, Target::Tls { .. }));
    write!(f, "redis{}+{kind}://", if tls { "s" } else { "" })?;
    for (at, target) in targets.iter().enumerate() {
        write!(f, "{}{target}", if at == 0 { "" } else { "," })?;
    }
    Ok(())
}

struct Parts<'a> {
    scheme: &'static str,
    /// With its `@`, if there is one.
    login: &'a str,
    hosts: &'a str,
    /// From the first `/`, `?` or `#` on.
    rest: &'a str,
}

impl<'a> Parts<'a> {
    fn split(url: &'a str) -> Result<Self, OpenError> {
        reject_misplaced_at(url)?;
        let (scheme, after) = url.split_once("://").unwrap_or_default();
        let end = after.find(['/', '?', '#']).unwrap_or(after.len());
        let (authority, rest) = after.split_at(end);
        let (login, hosts) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
        Ok(Self {
            scheme: if scheme.starts_with("rediss") {
                "rediss"
            } else {
                "redis"
            },
            login,
            hosts,
            rest,
        })
    }

    /// Every host by the rules for a single one.
    fn targets(
        &self,
        default_port: Option<u16>,
    ) -> Result<(Vec<Target>, Option<Credentials>), OpenError> {
        let mut targets = Vec::new();
        let mut login = None;
        for host in self.hosts.split(',') {
            let mut url = format!("{}://{}{host}", self.scheme, self.login);
            if let Some(port) = default_port
                && !has_port(host)
            {
                url = format!("{url}:{port}");
            }
            let (target, _, credentials) = Address::parse_one(&url, self.scheme)?;
            targets.push(target);
            login = credentials;
        }
        Ok((targets, login))
    }
}

/// The colons of an IPv6 address are inside brackets.
fn has_port(host: &str) -> bool {
    host.rsplit_once(':')
        .is_some_and(|(_, port)| !port.contains(']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Address {
        Address::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"))
    }

    #[test]
    fn clusters() {
        let address = parse("redis+cluster://worker:p%40ss@a:7000,b,[::1]:7");
        assert_eq!(address.to_string(), "redis+cluster://a:7000,b:6379,[::1]:7");
        assert_eq!(address.credentials.expect("a login").password, "p@ss");
        let tls = parse("rediss+cluster://a,b/0");
        assert_eq!(tls.to_string(), "rediss+cluster://a:6379,b:6379");
        for url in [
            "redis+cluster://",
            "redis+cluster://a,",
            "redis+cluster://a/1",
        ] {
            Address::parse(url).expect_err(url);
        }
    }

    #[test]
    fn sentinels() {
        let address =
            parse("redis+sentinel://:m@a,[::1],b:7/jobs/3?sentinel_user=s&sentinel_password=p%40");
        assert_eq!(
            address.to_string(),
            "redis+sentinel://a:26379,[::1]:26379,b:7/jobs/3"
        );
        let Layout::One(Endpoint::Master(sentinels)) = &address.layout else {
            panic!("{address}");
        };
        let own = sentinels.credentials.as_ref().expect("a login");
        assert_eq!((own.user.as_deref(), &*own.password), (Some("s"), "p@"));
        assert_eq!(address.credentials.expect("the master's").password, "m");
        assert_eq!(parse("redis+sentinel://a/jobs").database, 0);
        for url in [
            "redis+sentinel://a",
            "redis+sentinel://a/",
            "redis+sentinel:///jobs",
            "redis+sentinel://a/jobs/-1",
            "redis+sentinel://a/jobs/0/1",
            "redis+sentinel://a/jobs?sentinel_user=x",
            "redis+sentinel://a/jobs?db=1",
        ] {
            Address::parse(url).expect_err(url);
        }
    }
}
