/** Returns JSON with a line for each member; what is no JSON as it stands. */
export function laidOut(text: string): string
