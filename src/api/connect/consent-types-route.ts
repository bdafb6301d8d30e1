// GET connect/consent-types: what patients can be asked to consent to, and for which purposes (decisions of the interface's open points, §3).

import { purposeCodes } from '../../access/consent/purposes.ts'
import { bearer, type Route, reply, route } from '../../http/route.ts'
import { Type } from '../../lib/schema.ts'
import type { ConnectParts } from './parts.ts'

const Item = Type.Object({
  consent_type: Type.String({ examples: ['lab_results'] }),
  title: Type.String({ examples: ['Laboratory results'] }),
  meaning: Type.String({ description: 'The meaning, in words for patients.' }),
  resource_types: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: 'The FHIR resource types that the consent opens. Null: all. Empty: none.',
  }),
  categories: Type.Array(Type.String(), {
    description: 'The categories (codes of observation-category) that access is limited to. Empty: all.',
  }),
})

const ConsentTypeList = Type.Object(
  {
    data: Type.Array(Item),
    purposes: Type.Array(Type.String(), { description: 'The purposes that a consent can be limited to.' }),
    has_more: Type.Boolean({ description: 'Always false.' }),
  },
  { $id: 'ConsentTypeList', description: 'The consent types and purposes.' },
)

export function consentTypesRoute({ consentTypes }: ConnectParts): Route {
  return route({
    method: 'GET',
    path: '/api/v1/connect/consent-types',
    tag: 'Connect',
    operationId: 'listConsentTypes',
    summary: 'List consent types and purposes',
    description:
      'Returns the current consent types, the resource types that each one opens, and the purposes that a consent can be limited to.',
    access: bearer('consents:read', 'consents:write'),
    replies: { 200: ConsentTypeList },
    handle() {
      const data = [...consentTypes().types.values()].map(each => ({
        consent_type: each.name,
        title: each.title,
        meaning: each.meaning,
        resource_types: each.resourceTypes ?? null,
        categories: each.categories,
      }))
      return reply(200, { data, purposes: Object.keys(purposeCodes), has_more: false })
    },
  })
}
