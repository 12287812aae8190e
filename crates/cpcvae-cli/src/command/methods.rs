//! `cpcvae methods`: what each method does.

use crate::printer::Printer;
use anyhow::Result;
use cpcvae_lab::table::TextTable;
use std::process::ExitCode;

/// Lists the methods.
pub fn run(printer: Printer) -> Result<ExitCode> {
    let rows =
        cpcvae::method::NAMES.map(|name| vec![name.to_string(), description(name).to_string()]);
    let table = TextTable {
        header: vec!["method".into(), "what it does".into()],
        rows: rows.to_vec(),
    };
    printer.write(table.to_text().as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn description(name: &str) -> &'static str {
    match name {
        "vae" => "a variational autoencoder without labels",
        "vae-then-mlp" => "a VAE first, then a predictor on its frozen codes",
        "supervised-vae" => "a VAE that models features and labels jointly, without a constraint",
        "pc" => "a VAE whose codes must predict the labels (prediction constraint)",
        "cpc" => "pc, and predictions must survive reconstruction (consistency constraint)",
        "m2" => "the label is a latent variable of its own (Kingma et al. 2014)",
        "m1" => "a VAE first, then a linear classifier on its frozen codes (Kingma et al. 2014)",
        "m1-m2" => "m2 on the codes of a VAE (Kingma et al. 2014)",
        "adgm" => "m2 with an auxiliary variable for a richer posterior (Maaloe et al. 2016)",
        "sdgm" => "adgm whose auxiliary variable has a part in the features too",
        "blended-m2" => "m2 and a predictor tied to it (Gordon and Hernandez-Lobato 2020)",
        "labels-only" => "a predictor on the labelled rows only; no generative part",
        "vat" => "a predictor that withstands the worst small change of a row (Miyato et al. 2019)",
        _ => "",
    }
}
