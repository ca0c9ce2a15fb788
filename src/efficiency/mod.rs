//! Efficiencies: the share of the ideal each kernel reaches.
