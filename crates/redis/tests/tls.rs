//! `rediss://` against a `redis-server` with a certificate made for the test.

mod support;

use std::fs;
use std::time::Duration;

use leaseline_core::capability::RedisError;
use leaseline_redis::testing::{RedisServer, free_port};
use leaseline_redis::{Connector, OpenError};
use support::{PATIENT, connector, int, run};
use tempfile::TempDir;

/// A server with TLS on a second port, and the certificate to trust.
fn tls_server() -> (RedisServer, u16, String, TempDir) {
    let directory = TempDir::new().expect("a directory");
    let made = rcgen::generate_simple_self_signed(["localhost".into()]).expect("a certificate");
    let certificate = made.cert.pem();
    let path = |name: &str| directory.path().join(name).display().to_string();
    fs::write(path("cert.pem"), &certificate).expect("write");
    fs::write(path("key.pem"), made.signing_key.serialize_pem()).expect("write");
    let port = free_port();
    let server = RedisServer::builder()
        .config("tls-port", &port.to_string())
        .config("tls-cert-file", &path("cert.pem"))
        .config("tls-key-file", &path("key.pem"))
        .config("tls-auth-clients", "no")
        .start();
    (server, port, certificate, directory)
}

#[tokio::test]
async fn a_trusted_server_is_used_and_found_again() {
    let (mut server, port, certificate, _files) = tls_server();
    let trusting = connector(&format!("rediss://localhost:{port}/1"))
        .tls_root_certificates(certificate.as_bytes())
        .expect("a certificate");
    let redis = trusting.open().await.expect("a TLS connection");
    assert_eq!(int(&redis, "INCR k").await, 1);
    server.kill9();
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert!(matches!(
        run(&redis, "INCR k", PATIENT).await,
        Err(RedisError::NotSent(_))
    ));
    server.restart();
    assert_eq!(int(&redis, "INCR k").await, 1);
}

#[tokio::test]
async fn mistakes_are_explained() {
    let (server, port, certificate, _files) = tls_server();
    let error = connector(&format!("rediss://localhost:{port}"))
        .open()
        .await;
    assert!(
        matches!(error, Err(OpenError::Tls { .. })),
        "unknown authority: {error:?}"
    );

    let other_name = connector(&format!("rediss://127.0.0.1:{port}"))
        .tls_root_certificates(certificate.as_bytes())
        .expect("a certificate");
    let error = other_name.open().await;
    assert!(
        matches!(error, Err(OpenError::Tls { .. })),
        "wrong name: {error:?}"
    );

    // A plain Redis takes the TLS greeting for the begin of a command and waits for the rest.
    let plain = connector(&format!("rediss://localhost:{}", server.port()))
        .connect_timeout(Duration::from_millis(300));
    let error = plain.open().await.expect_err("no TLS there");
    assert!(
        matches!(error, OpenError::ConnectTimeout { .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("TLS handshake"), "{error}");

    let error = connector(&format!("redis://localhost:{port}")).open().await;
    assert!(
        matches!(
            error,
            Err(OpenError::NotRedis { .. } | OpenError::Unreachable { .. })
        ),
        "TLS there: {error:?}"
    );

    for pem in [
        "",
        "nonsense",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    ] {
        let error = Connector::new("rediss://h")
            .expect("valid")
            .tls_root_certificates(pem.as_bytes());
        assert!(
            matches!(error, Err(OpenError::InvalidAddress { .. })),
            "{pem}"
        );
    }
}
