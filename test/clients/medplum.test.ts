// MedplumClient (@medplum/core), unmodified: signs in with client credentials, then works on resources.
import { MedplumClient, OperationOutcomeError } from '@medplum/core'
import { beforeAll, expect, test } from 'vitest'
import { type Service, startService } from '../support/service.ts'

let service: Service
let medplum: MedplumClient

beforeAll(async () => {
  service = await startService()
  medplum = connect()
  await medplum.startClientLogin('demo-client', 'demo-secret-for-local-use-only')
})

function connect(more: { authCredentialsMethod?: 'header' } = {}): MedplumClient {
  return new MedplumClient({
    baseUrl: `${service.url}/`,
    fhirUrlPath: 'api/fhir/R4',
    tokenUrl: `${service.url}/api/v1/connect/auth/token`,
    cacheTime: 0,
    ...more,
  })
}

test('it signs in with a form, and is refused with a wrong secret', async () => {
  expect(medplum.getAccessToken()).toMatch(/^ey/)
  await expect(connect().startClientLogin('demo-client', 'wrong')).rejects.toThrow()
})

test('it creates, reads, updates, patches and deletes', async () => {
  const created = await medplum.createResource({ resourceType: 'Patient', name: [{ family: 'Ekani' }] })
  const { id } = created as { id: string }
  expect(await medplum.readResource('Patient', id)).toEqual(created)
  const updated = await medplum.updateResource({ ...created, active: true } as typeof created)
  expect(updated).toMatchObject({ id, active: true })
  const patched = await medplum.patchResource('Patient', id, [{ op: 'replace', path: '/active', value: false }])
  expect(patched).toMatchObject({ id, active: false })
  await medplum.deleteResource('Patient', id)
  await expect(medplum.readResource('Patient', id)).rejects.toBeInstanceOf(OperationOutcomeError)
})

test('it searches', async () => {
  await medplum.createResource({ resourceType: 'Patient', name: [{ family: 'Searchable' }] })
  expect((await medplum.search('Patient', { family: 'searchable' })).entry).toHaveLength(1)
  expect(await medplum.searchResources('Patient', 'family=searchable')).toHaveLength(1)
  expect(await medplum.searchOne('Patient', 'family=nobody')).toBeUndefined()
})

test('it creates what is not there yet, and puts by condition', async () => {
  const identifier = [{ system: 'https://example.org/mrn', value: 'm-1' }]
  const first = await medplum.createResourceIfNoneExist(
    { resourceType: 'Patient', identifier },
    'identifier=https://example.org/mrn|m-1',
  )
  const second = await medplum.createResourceIfNoneExist(
    { resourceType: 'Patient', identifier },
    'identifier=https://example.org/mrn|m-1',
  )
  expect(second.id).toBe(first.id)
  const put = await medplum.upsertResource(
    { resourceType: 'Patient', identifier, active: true },
    'identifier=https://example.org/mrn|m-1',
  )
  expect(put).toMatchObject({ id: first.id, active: true })
})

test('it executes a batch and a transaction', async () => {
  for (const type of ['batch', 'transaction'] as const) {
    const answer = await medplum.executeBatch({
      resourceType: 'Bundle',
      type,
      entry: [
        {
          resource: { resourceType: 'Patient', name: [{ family: 'Bundle' }] },
          request: { method: 'POST', url: 'Patient' },
        },
      ],
    })
    expect(answer.type).toBe(`${type}-response`)
    expect(answer.entry?.[0]?.response?.status).toMatch(/^201/)
  }
})

test('it reads the history', async () => {
  const { id } = await medplum.createResource({ resourceType: 'Patient', active: true })
  await medplum.patchResource('Patient', id!, [{ op: 'replace', path: '/active', value: false }])
  expect((await medplum.readHistory('Patient', id!)).entry).toHaveLength(2)
})

test('it exports in bulk, and fetches the files', async () => {
  await medplum.createResource({ resourceType: 'Basic', code: { text: 'in bulk' } })
  const { output } = await medplum.bulkExport('', 'Basic', undefined, {
    pollStatusOnAccepted: true,
    pollStatusPeriod: 20,
  })
  expect(output).toMatchObject([{ type: 'Basic', count: 1 }])
  const text = await (await medplum.download(output![0]!.url!)).text()
  expect(JSON.parse(text)).toMatchObject({ resourceType: 'Basic', code: { text: 'in bulk' } })
})
