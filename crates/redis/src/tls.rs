//! TLS over rustls, with ring named explicitly: rustls panics when it has to guess its provider.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::error::{OpenError, describe_io};

/// Reads certificate authorities in PEM form.
pub(crate) fn roots_from_pem(pem: &[u8]) -> Result<RootCertStore, OpenError> {
    let invalid = |reason: &str| OpenError::InvalidAddress {
        reason: reason.to_owned(),
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate =
            certificate.map_err(|_| invalid("the root certificates are not valid PEM"))?;
        roots
            .add(certificate)
            .map_err(|_| invalid("a root certificate cannot be used as an authority"))?;
    }
    if roots.is_empty() {
        return Err(invalid("the root certificates hold no certificate"));
    }
    Ok(roots)
}

/// Mozilla's authorities, as compiled into webpki-roots.
pub(crate) fn public_roots() -> RootCertStore {
    RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    }
}

/// The TLS handshake. `address` is for messages.
pub(crate) async fn handshake(
    socket: TcpStream,
    host: &str,
    roots: Arc<RootCertStore>,
    address: &str,
) -> Result<TlsStream<TcpStream>, OpenError> {
    let failed = |reason: String| OpenError::Tls {
        address: address.to_owned(),
        reason,
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| failed("the host name cannot be in a certificate".into()))?;
    TlsConnector::from(Arc::new(config))
        .connect(name, socket)
        .await
        .map_err(|error| failed(describe_io(&error)))
}
