// npm run map -- COMMAND …
import '../lib/compile-cache.js'

const { runTool } = await import('../lib/command.ts')
const { mapTool } = await import('./map/tool.ts')

process.exitCode = await runTool(mapTool, process.argv.slice(2))
