// npm run load -- --client: whose the loaded resources are.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { createClient } from '../../src/identity/clients.ts'
import { adminOn } from '../support/admin.ts'
import { fhirCaller } from '../support/fhir.ts'
import { type Service, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let service: Service
let file: string
const call = fhirCaller(() => service)
const { loadProcess } = adminOn(() => service.database)

beforeAll(async () => {
  service = await startService()
  file = join(await temporaryFolder('load'), 'patients.ndjson')
  await writeFile(file, JSON.stringify({ resourceType: 'Patient', id: 'loaded' }))
})

test('a client that does not exist is refused before anything is loaded', async () => {
  expect(await loadProcess([file, '--client', 'client_nobody'])).toEqual({
    code: 2,
    output:
      'There is no client client_nobody, and nothing was loaded: --client is an id that `npm run admin -- client list` shows.\n',
  })
  expect((await call('GET', 'Patient/loaded')).status).toBe(404)
})

test('a client that exists is taken as the author', async () => {
  const { client } = await createClient(service.application.database, 'local', {
    ...{ name: 'Registry', organizationId: 'registry', scopes: ['patients:read'] },
  })
  expect((await loadProcess([file, '--client', client.id])).code).toBe(0)
  expect((await call('GET', 'Patient/loaded')).status).toBe(200)
})
