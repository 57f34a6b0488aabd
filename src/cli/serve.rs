//! `plywood serve BENCH`: a bench as a service.

use std::net::{SocketAddr, TcpListener};

use super::args::{BenchArgs, PlayArgs, ServeArgs};
use super::open::Bench;
use super::output::{Failure, Out, Outcome, Result};
use super::settings::Environment;
use crate::core::fact::{FactKey, Found};
use crate::core::run::Load;
use crate::io::bench_file::BenchFile;
use crate::io::server::{self, Journals, Registry, Unkept};
use crate::io::settings::place::Places;

struct Edge(BenchFile);

impl Load for Edge {
    fn load(&mut self, keys: &[FactKey]) -> Vec<(FactKey, Found)> {
        keys.iter().map(|key| (key.clone(), self.0.loader().load(key))).collect()
    }
}

/// Serves until it is told to end.
pub(super) fn run(args: &ServeArgs, out: &mut Out<'_>) -> Result {
    let address = address(&args.listen)
        .ok_or_else(|| Failure::message(format!("--listen {}: write a port or address:port", args.listen)))?;
    let bench_args = BenchArgs {
        variants: args.variants.clone(),
        play: PlayArgs {
            model: args.model.clone(),
            trust: args.trust,
            settings: args.settings.clone(),
            ..PlayArgs::default()
        },
    };
    let (bench, file, copy) = Bench::open(&args.path, &bench_args)?.into_parts();
    let journals = journals(&file, copy.is_some())?;
    let listener = TcpListener::bind(address).map_err(|error| {
        Failure::message(format!("{address} cannot be listened on: {}", crate::io::load::reason(&error)))
    })?;
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() {
        let who = "whoever reaches it reads prompts and files of the workspace and writes rules";
        crate::cli::output::warn(format_args!(
            "warning: {address} can be reached from other machines: {who}"
        ));
    }
    let registry = Registry::new(bench, Box::new(Edge(file)), journals);
    server::serve(listener, registry, || {
        out.line(format_args!("listening on http://{address}"))?;
        out.flush()
    })?;
    drop(copy);
    Ok(Outcome::Done)
}

/// `4000` or `127.0.0.1:4000`.
fn address(text: &str) -> Option<SocketAddr> {
    match text.parse::<u16>() {
        Ok(port) => Some(SocketAddr::from(([127, 0, 0, 1], port))),
        Err(_) => text.parse().ok(),
    }
}

/// Where the sessions of this bench are kept.
fn journals(file: &BenchFile, scratch: bool) -> Result<Journals> {
    if scratch {
        crate::cli::output::warn(format_args!(
            "note: a sample, in a scratch copy: its sessions end with the server"
        ));
        return Ok(Journals::none());
    }
    let environment = Environment::of_process();
    let state = Places::of_user(None, &environment.look()).log;
    let Some(state) = state.as_deref().and_then(std::path::Path::parent) else {
        crate::cli::output::warn(format_args!(
            "warning: there is no home folder: sessions end with the server"
        ));
        return Ok(Journals::none());
    };
    let path = file.path().map_or_else(|| file.folder().to_owned(), |(path, _)| path.to_owned());
    let path = path.canonicalize()?;
    match Journals::open(&state.join("serve"), &path) {
        Ok(journals) => Ok(journals),
        Err(Unkept::InUse) => Err(Failure::message("another server keeps the sessions of this bench")),
        Err(Unkept::Failed(reason)) => {
            crate::cli::output::warn(format_args!("warning: sessions end with the server: {reason}"));
            Ok(Journals::none())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_on_loopback() {
        assert_eq!(address("4000").map(|a| a.to_string()), Some("127.0.0.1:4000".to_owned()));
        assert_eq!(address("0.0.0.0:80").map(|a| a.to_string()), Some("0.0.0.0:80".to_owned()));
        assert_eq!(address("[::1]:0").map(|a| a.to_string()), Some("[::1]:0".to_owned()));
        assert_eq!((address("localhost"), address("70000"), address("")), (None, None, None));
    }
}
