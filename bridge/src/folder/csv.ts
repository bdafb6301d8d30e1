// CSV (RFC 4180) as drafts of items, by the mapping of the config: which column fills which field of the payload.
import type { CsvField, CsvMapping } from '../config-shape.ts'
import { type Draft, DraftFault, timeOf } from './json.ts'

/** @throws DraftFault naming row and column. */
export function rowsOf(text: string, mapping: CsvMapping): Draft[] {
  const [header, ...rows] = cellsOf(text, mapping.delimiter)
  if (!header) throw new DraftFault('The file is empty.')
  const places = new Map(header.map((name, index) => [name.trim(), index]))
  const wanted = [...Object.values(mapping.fields).map(each => each.column), mapping.occurred_at]
  const missing = wanted.filter(name => name !== undefined && !places.has(name))
  if (missing.length > 0) throw new DraftFault(`The first row lacks columns of the mapping: ${missing.join(', ')}.`)
  return rows.map((row, index) => {
    const where = `Row ${index + 2}`
    if (row.length !== header.length)
      throw new DraftFault(`${where} has ${row.length} cells, but the first row has ${header.length}.`)
    const cell = (column: string): string => row[places.get(column)!]!.trim()
    const time = mapping.occurred_at === undefined ? '' : cell(mapping.occurred_at)
    return {
      type: mapping.type as Draft['type'],
      op: 'upsert',
      payload: payloadOf(mapping.fields, cell, where),
      ...(time === '' ? {} : { occurredAt: timeOf(time, where) }),
    }
  })
}

function payloadOf(fields: CsvMapping['fields'], cell: (column: string) => string, where: string): object {
  const payload: Record<string, unknown> = {}
  for (const [path, field] of Object.entries(fields)) {
    const value = cellValue(field, cell, `${where}, column ${field.column}`)
    if (value !== undefined) place(payload, path.split('.'), value)
  }
  return payload
}

function cellValue(field: CsvField, cell: (column: string) => string, where: string): unknown {
  if (field.column === undefined) return field.value
  const text = cell(field.column)
  if (text === '') {
    if (field.required) throw new DraftFault(`${where} is empty, but required.`)
    return field.value
  }
  if (field.as === 'text') return text
  if (field.as === 'boolean') return booleanOf(text, where)
  const number = Number(text.replace(/^([+-]?\d+),(\d+)$/, '$1.$2'))
  if (!Number.isFinite(number)) throw new DraftFault(`${where} must be a number.`)
  return number
}

function booleanOf(text: string, where: string): boolean {
  if (/^(?:true|yes|y|1|oui|o)$/i.test(text)) return true
  if (/^(?:false|no|n|0|non)$/i.test(text)) return false
  throw new DraftFault(`${where} must be yes or no, true or false, 1 or 0.`)
}

function place(target: Record<string, unknown>, [name, ...rest]: string[], value: unknown): void {
  if (rest.length === 0) target[name!] = value
  else place((target[name!] ??= {}) as Record<string, unknown>, rest, value)
}

/** The cells of every row that is not empty. @throws DraftFault for a quote that is not closed. */
function cellsOf(text: string, delimiter: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    const { value, end } = text[at] === '"' ? quoted(text, at, rows.length + 1) : bare(text, at, delimiter)
    row.push(value)
    at = end
    if (text[at] === delimiter) {
      at++
      if (at < text.length && !/[\r\n]/.test(text[at]!)) continue
      row.push('')
    }
    if (row.some(each => each !== '')) rows.push(row)
    row = []
    while (at < text.length && /[\r\n]/.test(text[at]!)) at++
  }
  return rows
}

function bare(text: string, from: number, delimiter: string): { value: string; end: number } {
  let end = from
  while (end < text.length && text[end] !== delimiter && text[end] !== '\n' && text[end] !== '\r') end++
  return { value: text.slice(from, end), end }
}

function quoted(text: string, from: number, row: number): { value: string; end: number } {
  for (let end = from + 1; end < text.length; end++) {
    if (text[end] !== '"') continue
    if (text[end + 1] !== '"') return { value: text.slice(from + 1, end).replaceAll('""', '"'), end: end + 1 }
    end++
  }
  throw new DraftFault(`Row ${row}: a quote is opened and not closed.`)
}
