import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '../../src/lib/config.ts'
import { configurationPage } from '../../src/lib/configuration.ts'

test('docs/configuration.md is what npm run docs prints', async () => {
  expect(await readFile(join(import.meta.dirname, '../../docs/configuration.md'), 'utf8')).toBe(configurationPage())
})

test('without any setting the service has a complete configuration', () => {
  expect(readConfig({})).toMatchObject({
    port: 8080,
    host: '127.0.0.1',
    environment: 'local',
    baseUrl: '',
    databaseUrl: '',
  })
})

test('every wrong setting is named at once, and a database password is not repeated', () => {
  const wrong = () => readConfig({ PORT: '99999', DATABASE_URL: 'mysql://u:geheim@h/d', BASE_URL: 'example.org' })
  expect(wrong).toThrow(ConfigError)
  expect(wrong).toThrow(/PORT is "99999"[\s\S]*BASE_URL is "example\.org"[\s\S]*DATABASE_URL is set/)
  expect(wrong).not.toThrow(/geheim/)
})

test('a base address loses its trailing slash', () => {
  expect(readConfig({ BASE_URL: 'https://fhir.example.org/' }).baseUrl).toBe('https://fhir.example.org')
})
