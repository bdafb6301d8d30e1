// Prints docs/configuration.md from the list of settings: `npm run docs`.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { settings } from './config.ts'

/** The settings as a table in Markdown. */
export function configurationPage(): string {
  const rows = Object.values(settings).map(({ name, default: value, meaning }) => {
    const shown = name === 'WORKERS' ? 'cores, at most 8' : value === '' ? '(empty)' : `\`${value}\``
    return `| \`${name}\` | ${shown} | ${meaning} |`
  })
  return [
    '# Settings',
    '',
    'All by environment variables, all with a default. A wrong one is named at the start, with what it should be.',
    'This page is printed from `src/lib/config.ts` by `npm run docs`.',
    '',
    '| name | default | meaning |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

if (import.meta.main) await writeFile(join(import.meta.dirname, '../../docs/configuration.md'), configurationPage())
