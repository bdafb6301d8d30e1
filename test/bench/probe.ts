// The least that a server could do: node:http, one prepared statement, the stored text sent as it is. What the service is measured against.
import { createServer } from 'node:http'
import pg from 'pg'

const pool = new pg.Pool({ ...JSON.parse(process.env['PROBE_CONNECTION']!), max: 16 })

const server = createServer(async (request, response) => {
  const [, type, id] = request.url!.split('/')
  const { rows } = await pool.query({
    name: 'read',
    text: 'select r.body from directory d join resource r using (shard, key) where d.type = $1 and d.id = $2',
    values: [Number(type), id],
  })
  const body = Buffer.from(rows[0]?.body ?? '{}')
  response.writeHead(200, { 'content-type': 'application/fhir+json', 'content-length': body.length })
  response.end(body)
})
server.listen(Number(process.env['PORT']), '127.0.0.1', () => process.send?.('ready'))
