//! cpcvae-lab
