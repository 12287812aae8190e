//! cpcvae-data
