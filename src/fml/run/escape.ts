// Texts as other formats hold them, for the transform `escape`.

import { Refusal } from './map-error.ts'

interface Format {
  readonly from: (text: string) => string
  readonly to: (text: string) => string
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const CHARACTERS = new Map(Object.entries(ENTITIES).map(([character, entity]) => [entity, character]))
CHARACTERS.set('&apos;', "'")

const markup: Format = {
  to: text => text.replace(/[&<>"']/g, character => ENTITIES[character]!),
  from: text => text.replace(/&(?:amp|lt|gt|quot|apos|#39);/g, entity => CHARACTERS.get(entity)!),
}

/** HL7 version 2: delimiters are written between backslashes (chapter 2.7). */
const V2 = new Map([
  ['\\', '\\E\\'],
  ['|', '\\F\\'],
  ['~', '\\R\\'],
  ['^', '\\S\\'],
  ['&', '\\T\\'],
])
const FROM_V2 = new Map([...V2].map(([character, sequence]) => [sequence, character]))

/** The formats a text can be written in. */
export const FORMATS: ReadonlyMap<string, Format> = new Map<string, Format>([
  ['text', { to: text => text, from: text => text }],
  ['html', markup],
  ['xml', markup],
  ['json', { to: text => JSON.stringify(text).slice(1, -1), from: fromJson }],
  ['url', { to: encodeURIComponent, from: fromUrl }],
  [
    'v2',
    {
      to: text => text.replace(/[\\|~^&]/g, each => V2.get(each)!),
      from: text => text.replace(/\\[EFRST]\\/g, each => FROM_V2.get(each)!),
    },
  ],
])

/** A text that is written in one format, as the other writes it. */
export function escapeText(text: string, from: string, to: string): string {
  return formatOf(to).to(formatOf(from).from(text))
}

function formatOf(name: string): Format {
  const format = FORMATS.get(name)
  if (!format) throw new Refusal(`a text can be escaped as ${[...FORMATS.keys()].join(', ')}`)
  return format
}

function fromJson(text: string): string {
  try {
    return String(JSON.parse(`"${text}"`))
  } catch {
    throw new Refusal('the text is not escaped as in JSON')
  }
}

function fromUrl(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Refusal('the text is not escaped as in URLs')
  }
}
