// Builds the agent: one file for npx and Node.js 24 (dist/agent.cjs) and, with --executable, a program that needs no Node.js.
// `npm run build`, or `node bridge/build.ts [--executable] [FOLDER]`.
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'rolldown'

/** Flags of Node.js that keep an idle agent small: short-lived objects get little room of their own. */
const flags = ['--max-semi-space-size=1', '--disable-warning=ExperimentalWarning']

const here = import.meta.dirname
const { values, positionals } = parseArgs({ options: { executable: { type: 'boolean' } }, allowPositionals: true })
const target = resolve(positionals[0] ?? join(here, 'dist'))

if (target === join(here, 'dist')) copyFileSync(join(here, '../LICENSE'), join(here, 'LICENSE'))
rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
const script = join(target, 'agent.cjs')
await build({
  input: join(here, 'src/main.ts'),
  platform: 'node',
  logLevel: 'warn',
  // A program of its own is CommonJS, so the file for npx is too: one thing to test.
  output: { file: script, format: 'cjs', minify: { compress: true, mangle: false, codegen: true } },
})
chmodSync(script, 0o755)
if (values.executable) executable()

/** Puts the script into a copy of this Node.js (https://nodejs.org/api/single-executable-applications.html). */
function executable(): void {
  const [blob, config, program] = ['agent.blob', 'sea.json', 'health-interop-agent'].map(name => join(target, name))
  const options = { main: script, output: blob, execArgv: flags, disableExperimentalSEAWarning: true }
  writeFileSync(config!, JSON.stringify(options))
  execFileSync(process.execPath, ['--experimental-sea-config', config!], { stdio: 'inherit' })
  copyFileSync(process.execPath, program!)
  const fuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
  execFileSync('postject', [program!, 'NODE_SEA_BLOB', blob!, '--sentinel-fuse', fuse], { stdio: 'inherit' })
  for (const file of [blob!, config!]) rmSync(file)
  chmodSync(program!, 0o755)
  console.log(`${program}: ${(statSync(program!).size / 2 ** 20).toFixed(1)} MiB`)
}
