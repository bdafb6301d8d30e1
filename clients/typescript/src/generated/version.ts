// The version of the interface. Written by generate.ts.
export const version = '1.2.0'
