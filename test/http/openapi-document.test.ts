// docs/openapi.json is the description that is served, so that a change of the interface is seen where changes are read.
// After a change that is meant: npx vitest run test/http/openapi-document.test.ts -u
import { expect, test } from 'vitest'
import { startService } from '../support/service.ts'

test('docs/openapi.json says what /openapi.json says', async () => {
  const service = await startService()
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as { servers: { url: string }[] }
  expect(document.servers).toEqual([{ url: service.url }])
  document.servers = [{ url: 'http://localhost:8080' }]
  await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot('../../docs/openapi.json')
})
