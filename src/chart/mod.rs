//! Charts, generic over the drawing backend.
