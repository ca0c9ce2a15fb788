//! The scenario in a link's fragment.
