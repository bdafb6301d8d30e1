// What a file holds, as items: HL7 v2 with its batches, CSV by the config's mapping, JSON, FHIR, NDJSON.
import { extname } from 'node:path'
import { decoded } from '../hl7/charset.ts'
import { itemOf, keepEvidence } from '../hl7/items.ts'
import { headerOf, messagesOf } from '../hl7/message.ts'
import { readMessage } from '../hl7/read.ts'
import { fingerprintOf, type Incoming } from '../state/items.ts'
import { newItemId } from '../state/quarantine.ts'
import { rowsOf } from './csv.ts'
import { type Draft, DraftFault, draftsOf } from './json.ts'
import type { FolderParts } from './watch.ts'

/** Why a file as a whole is refused; the message is for the .reason file, and quotes nothing of the file. */
export class FileFault extends Error {}

export interface FileContent {
  readonly items: readonly Incoming[]
  /** Messages that go to quarantine, while the others are taken. */
  readonly refused: number
  /** What is to be stored beside the items. */
  readonly also: () => void
}

const formats: Readonly<Record<string, string>> = {
  '.hl7': 'hl7v2',
  '.hl7v2': 'hl7v2',
  '.er7': 'hl7v2',
  '.csv': 'csv',
  '.json': 'json',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
}

/** @throws FileFault */
export function readFile(parts: FolderParts, file: string, bytes: Buffer): FileContent {
  const format = parts.source.format ?? formats[extname(file).toLowerCase()]
  if (format === 'hl7v2') return messagesIn(parts, bytes)
  if (format === undefined)
    throw new FileFault(
      'The format is not known: name the file .hl7, .csv, .json or .ndjson, or set "format" in the config.',
    )
  const items = recordsIn(parts, format, textOf(parts, bytes))
  if (items.length === 0) throw new FileFault('The file holds no record.')
  return { items, refused: 0, also: () => {} }
}

function textOf({ source }: FolderParts, bytes: Buffer): string {
  const text = decoded(bytes, '', source.charset)
  if (typeof text !== 'string') throw new FileFault(`The bytes of the file are not ${source.charset}.`)
  return text.replace(/^\uFEFF/, '')
}

/** Messages are taken one by one: what is wrong with one does not keep back the others. */
function messagesIn({ state, source, name, longest, time }: FolderParts, bytes: Buffer): FileContent {
  // Each message has its own character set, so the bytes are split before they are read.
  const raw = messagesOf(bytes.toString('latin1'))
  if (raw.length === 0) throw new FileFault('The file holds no message: no line begins with MSH.')
  const outer = headerOf(raw[0]!)
  if (!outer) throw new FileFault('The first MSH segment has no field separator.')
  const now = time()
  const read = raw.map(text => readMessage(Buffer.from(text, 'latin1'), source.charset))
  const tooLong = read.findIndex(({ text }) => text.length > longest)
  if (tooLong >= 0) throw new FileFault(`Message ${tooLong + 1} is longer than ${longest} bytes.`)
  const refused = read.filter(each => each.fault !== undefined)
  return {
    items: read.filter(each => !each.fault).map(({ text }) => itemOf(name, text, now.toISOString())),
    refused: refused.length,
    also: () => refused.forEach(each => keepEvidence(state, name, { ...each, fault: each.fault! }, now)),
  }
}

/** Records are taken all or none: the file is mended and put back. @throws FileFault naming the record. */
function recordsIn(parts: FolderParts, format: string, text: string): Incoming[] {
  const { source, name, time, longest } = parts
  if (format === 'csv' && !source.csv)
    throw new FileFault(`CSV needs a mapping of its columns: "csv" of source ${name} in the config.`)
  try {
    const drafts = format === 'csv' ? rowsOf(text, source.csv!) : draftsOf(text, format === 'ndjson', source.type)
    return drafts.map((draft, index) => incomingOf(draft, index, name, time(), longest))
  } catch (error) {
    if (error instanceof DraftFault) throw new FileFault(error.message)
    throw error
  }
}

/** An item out of what a file or a program wrote. @throws DraftFault if it is too long. */
export function incomingOf(draft: Draft, index: number, source: string, now: Date, longest: number): Incoming {
  const payload = JSON.stringify(draft.payload)
  if (Buffer.byteLength(payload) > longest) throw new DraftFault(`Record ${index + 1} is longer than ${longest} bytes.`)
  return {
    source,
    itemId: draft.itemId ?? newItemId(),
    type: draft.type,
    op: draft.op,
    occurredAt: draft.occurredAt ?? now.toISOString(),
    payload,
    ...(draft.itemId ? { fingerprint: fingerprintOf('item', source, draft.itemId) } : {}),
  }
}
