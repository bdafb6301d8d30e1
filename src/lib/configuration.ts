// Writes docs/configuration.md from the list of settings: `npm run docs`.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { settings } from './config.ts'

/** The settings as a table in Markdown. */
export function configurationPage(): string {
  const rows = Object.values(settings).map(({ name, default: value, meaning }) => {
    const shown = name === 'WORKERS' ? 'two thirds of the cores' : value === '' ? '(empty)' : `\`${value}\``
    return `| \`${name}\` | ${shown} | ${meaning} |`
  })
  return [
    '# Settings',
    '',
    'All settings are environment variables with a default. A wrong value is named at the start, with what it should be.',
    '`npm run docs` generates this page from `src/lib/config.ts`.',
    '',
    '| name | default | meaning |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

if (import.meta.main) await writeFile(join(import.meta.dirname, '../../docs/configuration.md'), configurationPage())
