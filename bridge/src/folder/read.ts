// What a file holds, as items: HL7 v2 with its batches, CSV by the config's mapping, JSON, FHIR, NDJSON.
import { extname } from 'node:path'
import { decoderOf } from '../../../src/hl7v2/charset.ts'
import { MessageError } from '../../../src/hl7v2/problem.ts'
import { itemOf, keepEvidence } from '../hl7/items.ts'
import { type Received, receiveEach } from '../hl7/read.ts'
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
  const text = decoderOf(source.charset ?? '')!(bytes)
  if (text === undefined) throw new FileFault(`The bytes of the file are not ${source.charset}.`)
  return text.replace(/^\uFEFF/, '')
}

/** Messages are taken one by one: what is wrong with one does not keep back the others. */
function messagesIn({ state, source, name, longest, time }: FolderParts, bytes: Buffer): FileContent {
  const all = split(bytes, source.charset)
  if (all.length === 0) throw new FileFault('The file holds no message.')
  const tooLong = all.findIndex(({ text }) => text.length > longest)
  if (tooLong >= 0) throw new FileFault(`Message ${tooLong + 1} is longer than ${longest} bytes.`)
  const now = time()
  const refused = all.filter(each => each.problem !== undefined)
  return {
    items: all.flatMap(({ messages }) => messages).map(each => itemOf(name, each, now.toISOString())),
    refused: refused.length,
    also: () => refused.forEach(each => keepEvidence(state, name, each, now)),
  }
}

/** @throws FileFault */
function split(bytes: Buffer, charset: string | undefined): Received[] {
  try {
    return receiveEach(bytes, charset)
  } catch (error) {
    if (!(error instanceof MessageError)) throw error
    const reason = hasMessage(bytes) ? 'something stands before the first MSH segment' : 'no line begins with MSH'
    throw new FileFault(`The file is no HL7 v2: ${reason}.`)
  }
}

const hasMessage = (bytes: Buffer): boolean => /[\r\n]MSH/.test(bytes.toString('latin1'))

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
