//! cpcvae
