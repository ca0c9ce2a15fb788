/** Names of files that hold their content's hash: 64 bits in hex, which Trunk writes without leading zeros. */
export const NAMED = /-[0-9a-f]{9,16}(_bg)?\.(js|css|wasm|svg)$/;

/** Digits of a hash in the name or the address of a file. */
export const HASH = 16;
