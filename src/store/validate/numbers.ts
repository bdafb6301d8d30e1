// JSON numbers as this server holds them: a decimal that would lose digits in a double is kept raw by JSON.rawJSON.

interface RawNumber {
  readonly rawJSON: string
}

const { isRawJSON } = JSON as unknown as { isRawJSON(value: unknown): value is RawNumber }

/** True for a JavaScript number and for a number kept as it was written. */
export function isJsonNumber(value: unknown): value is number | RawNumber {
  return typeof value === 'number' ? Number.isFinite(value) : isRawJSON(value)
}

/** True for a JSON object, which a raw number is not. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJSON(value)
}
