// npm run admin -- COMMAND …
import '../lib/compile-cache.js'

const { runTool } = await import('../lib/command.ts')
const { adminTool } = await import('./admin/tool.ts')

process.exitCode = await runTool(adminTool(process.env), process.argv.slice(2))
