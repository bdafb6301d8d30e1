// Ids of requests are UUIDs of version 7: their first 48 bits are the time at which the request came.

/** The lowest id of a millisecond. */
export function firstIdAt(time: number): string {
  const hex = Math.max(0, Math.floor(time)).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** The time of an id. */
export const timeOf = (id: string): Date => new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16))
