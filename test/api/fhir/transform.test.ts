// $transform: records and resources through maps that are sent, stored, or the service's own.
// https://hl7.org/fhir/R4/structuremap-operation-transform.html
import { beforeAll, describe, expect, test } from 'vitest'
import { creatorBy, fhirCaller } from '../../support/fhir.ts'
import { type Service, startService } from '../../support/service.ts'

let service: Service
const call = fhirCaller(() => service)
const create = creatorBy(call)

const shapes = 'https://health-interop.org/fhir/StructureDefinition'
const maps = 'https://health-interop.org/fhir/StructureMap'
const r4 = 'http://hl7.org/fhir/StructureDefinition'

const patient = { resourceType: 'Patient', id: 'p', name: [{ family: 'Fouda', given: ['Amina'] }], gender: 'female' }

/** A map from Patient to Basic whose rules are these. */
const toBasic = (rules: string, more = ''): string => `
  /// url = 'http://maps.example/to-basic'
  /// name = 'ToBasic'
  ${more}
  uses "${r4}/Patient" alias Patient as source
  uses "${r4}/Basic" alias Basic as target
  group ToBasic(source src : Patient, target tgt : Basic) {
    src -> tgt.code = cc('patient');
    ${rules}
  }`

const parameters = (given: Readonly<Record<string, unknown>>) => ({
  resourceType: 'Parameters',
  parameter: Object.entries(given).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map(each =>
      typeof each === 'object' ? { name, resource: each } : { name, valueString: each },
    ),
  ),
})

const transform = (given: Readonly<Record<string, unknown>>, address = 'StructureMap/$transform') =>
  call('POST', address, { body: parameters(given) })

/** The resource that a text in the mapping language is, as the service says it. */
async function asStructureMap(text: string): Promise<{ resourceType: string; id: string }> {
  const { body } = await transform({ srcMap: text, content: patient }, 'StructureMap/$transform?debug=true')
  return partsOf(body, 'parameters').find(each => each.name === 'map')?.resource
}

function partsOf(body: { parameter: { name: string; part?: [] }[] }, name: string): Part[] {
  return body.parameter.find(each => each.name === name)?.part ?? []
}

interface Part {
  readonly name: string
  readonly valueString?: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into resources freely
  readonly resource?: any
}

beforeAll(async () => {
  service = await startService({ TRANSFORM_TIMEOUT: '2' })
})

describe('a map is found', () => {
  test('among those of the service, by its URL', async () => {
    const record = {
      id: '4c3c8b0e-6f9f-4f8c-9d7c-0d8f6a1f3a10',
      patient_id: 'amina',
      substance: 'Penicillin',
      severity: 'severe',
      status: 'active',
    }
    const { status, body } = await transform({ source: `${maps}/allergy-to-fhir`, content: record })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body).toMatchObject({
      resourceType: 'AllergyIntolerance',
      patient: { reference: 'Patient/amina' },
      code: { text: 'Penicillin' },
      criticality: 'high',
    })
  })

  test('in the request, in the mapping language', async () => {
    const { status, body } = await transform({ srcMap: toBasic('src.id -> tgt.id;'), content: patient })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body).toEqual({ resourceType: 'Basic', code: { text: 'patient' }, id: 'p' })
  })

  test('by the source in the address, when the body is the content itself', async () => {
    await create({
      ...(await asStructureMap(toBasic('src.id -> tgt.id;'))),
      id: 'bare',
      url: 'http://maps.example/bare',
    } as never)
    const { body } = await call('POST', 'StructureMap/$transform?source=http://maps.example/bare', { body: patient })
    expect(body).toEqual({ resourceType: 'Basic', code: { text: 'patient' }, id: 'p' })
  })

  test('in the store, by its id', async () => {
    await create({ ...(await asStructureMap(toBasic('src.id -> tgt.id;'))), id: 'by-id' } as never)
    const { body } = await transform({ content: patient }, 'StructureMap/by-id/$transform')
    expect(body).toMatchObject({ resourceType: 'Basic', id: 'p' })
  })

  test('in the request, as a StructureMap', async () => {
    const { body } = await transform({
      sourceMap: await asStructureMap(toBasic('src.id -> tgt.id;')),
      content: patient,
    })
    expect(body).toMatchObject({ resourceType: 'Basic', id: 'p' })
  })
})

describe('a message of HL7 v2', () => {
  const source = `StructureMap/$transform?source=${maps}/oru-r01-to-fhir`
  const oru = (time: string): string =>
    ['MSH|^~\\&|LAB|CLINIC|||20260314||ORU^R01|1|P|2.5.1', 'PID|1||7', `OBX|1|NM|K||4.10|mmol/L|||||F|||${time}`].join(
      '\r',
    )

  test('is content as a text', async () => {
    const { status, body } = await transform({ content: oru('202603141042') }, source)
    expect(status).toBe(200)
    expect(body.entry[2].resource).toMatchObject({
      status: 'final',
      effectiveDateTime: '2026-03-14T10:42:00+01:00',
      valueQuantity: { value: 4.1, unit: 'mmol/L' },
    })
  })

  test('that is wrong is refused at its field', async () => {
    const { status, body } = await transform({ content: oru('20261301') }, source)
    expect([status, body.issue[0].expression]).toEqual([422, ['OBX-14']])
    expect(body.issue[0].diagnostics).toContain('there is no such date')
  })
})

describe('what a map draws upon is found', () => {
  const helper = `
    /// url = 'http://maps.example/helpers/names'
    /// name = 'Names'
    group Names(source name : HumanName, target tgt : Basic) {
      name.family as f -> tgt.identifier as i, i.value = f;
    }`
  const withImport = (url: string): string => toBasic('src.name as n -> tgt as t then Names(n, t);', `imports "${url}"`)

  test('among the maps of the request', async () => {
    const { body } = await transform({
      srcMap: withImport('http://maps.example/helpers/names'),
      supportingMap: helper,
      content: patient,
    })
    expect(body.identifier).toEqual([{ value: 'Fouda' }])
  })

  test('among stored maps, by URL and by a URL with a star', async () => {
    const map = await asStructureMap(`${helper}\n  uses "${r4}/Patient" alias Patient as source`)
    await create({ ...map, id: 'names' } as never)
    for (const url of ['http://maps.example/helpers/names', 'http://maps.example/helpers/*']) {
      const { body } = await transform({ srcMap: withImport(url), content: patient })
      expect(body.identifier, url).toEqual([{ value: 'Fouda' }])
    }
  })

  test('among stored concept maps', async () => {
    await create({
      resourceType: 'ConceptMap',
      id: 'genders',
      url: 'http://maps.example/genders',
      status: 'active',
      group: [
        {
          source: 'http://hl7.org/fhir/administrative-gender',
          target: 'http://codes.example',
          element: [{ code: 'female', target: [{ code: 'F', display: 'Female', equivalence: 'equivalent' }] }],
        },
      ],
    } as never)
    const rule =
      "src.gender as g -> tgt.subject as s, s.display = translate(g, 'http://maps.example/genders', 'display');"
    const { body } = await transform({ srcMap: toBasic(rule), content: patient })
    expect(body.subject).toEqual({ display: 'Female' })
  })

  test('among stored value sets, with the code systems they draw upon', async () => {
    await create({
      resourceType: 'CodeSystem',
      id: 'wards',
      url: 'http://codes.example/wards',
      status: 'active',
      content: 'complete',
      concept: [{ code: 'icu', concept: [{ code: 'neonatal' }] }, { code: 'day' }],
    } as never)
    const below = { property: 'concept', op: 'is-a', value: 'icu' }
    await create({
      resourceType: 'ValueSet',
      id: 'intensive',
      url: 'http://codes.example/intensive',
      status: 'active',
      compose: { include: [{ system: 'http://codes.example/wards', filter: [below] }] },
    } as never)
    const rule = (url: string) =>
      `src.maritalStatus as m -> tgt.subject as s, s.display = (iif(%m.memberOf('${url}'), 'in', 'out'));`
    const of = (code: string) => ({
      ...patient,
      maritalStatus: { coding: [{ system: 'http://codes.example/wards', code }] },
    })
    for (const [code, answer] of Object.entries({ neonatal: 'in', day: 'out' })) {
      const { body } = await transform({ srcMap: toBasic(rule('http://codes.example/intensive')), content: of(code) })
      expect(body.subject, code).toEqual({ display: answer })
    }
    const unknown = await transform({ srcMap: toBasic(rule('http://codes.example/none')), content: of('day') })
    expect(unknown.status).toBe(422)
    expect(unknown.text).toContain('the value set `http://codes.example/none` is unknown')
  })

  test('within the content: what it contains, and what other entries of its Bundle hold', async () => {
    const map = `
      uses "${r4}/Bundle" alias Bundle as source
      uses "${r4}/Basic" alias Basic as target
      group ToBasic(source src : Bundle, target tgt : Basic) {
        src -> tgt.code = cc('flag');
        src.entry as e, e.resource : Flag as f, f.subject as s -> tgt.identifier as i, i.value = (%s.resolve().gender);
        src.entry as e, e.resource : Flag as f, f.author as a -> tgt.identifier as i, i.value = (%a.resolve().id);
      }`
    const contained = [{ resourceType: 'Organization', id: 'ward' }]
    const flag = {
      resourceType: 'Flag',
      contained,
      subject: { reference: 'urn:uuid:p' },
      author: { reference: '#ward' },
    }
    const content = {
      resourceType: 'Bundle',
      type: 'collection',
      entry: [{ resource: flag }, { fullUrl: 'urn:uuid:p', resource: patient }],
    }
    const { body } = await transform({ srcMap: map, content })
    expect(body.identifier).toEqual([{ value: 'female' }, { value: 'ward' }])
    const entry = [{ resource: { ...flag, subject: { reference: 'Patient/elsewhere' } } }]
    const debug = await transform({ srcMap: map, content: { ...content, entry } }, 'StructureMap/$transform?debug=true')
    expect(debug.body.parameter[0].resource.issue).toMatchObject([
      { severity: 'warning', diagnostics: expect.stringMatching(/^map:6:9: resolve\(\) finds only/) },
    ])
  })

  const model = {
    resourceType: 'StructureDefinition',
    url: 'http://models.example/Visitor',
    name: 'Visitor',
    status: 'active',
    kind: 'logical',
    abstract: false,
    type: 'Visitor',
    baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Base',
    derivation: 'specialization',
    differential: {
      element: [
        { id: 'Visitor', path: 'Visitor' },
        { id: 'Visitor.names', path: 'Visitor.names', min: 0, max: '*', type: [{ code: 'string' }] },
      ],
    },
  }
  const fromVisitor = `
    uses "http://models.example/Visitor" alias Visitor as source
    uses "${r4}/Patient" alias Patient as target
    group ToPatient(source src : Visitor, target tgt : Patient) { src.names as n -> tgt.name as t, t.text = n; }`
  const visitor = { resourceType: 'Visitor', names: ['Amina Fouda'] }

  test('among the logical models of the request', async () => {
    const { body } = await transform({ srcMap: fromVisitor, model, content: JSON.stringify(visitor) })
    expect(body).toEqual({ resourceType: 'Patient', name: [{ text: 'Amina Fouda' }] })
  })

  test('among stored logical models', async () => {
    await create({ ...model, id: 'visitor' } as never)
    const wrong = fromVisitor.replace('src.names', 'src.nmaes')
    const { status, body } = await transform({ srcMap: wrong, content: JSON.stringify(visitor) })
    expect(status).toBe(422)
    expect(body.issue[0].diagnostics).toContain('Visitor has no element `nmaes`; did you mean `names`?')
  })

  test('in a second source, which says what the service knows unless the request brings it', async () => {
    const map = `
      uses "${r4}/Patient" alias Patient as source
      uses "${shapes}/Context" alias Context as source
      uses "${r4}/Basic" alias Basic as target
      group ToBasic(source src : Patient, source context : Context, target tgt : Basic) {
        src -> tgt.code = cc('patient');
        context.base_url -> tgt.implicitRules;
      }`
    const own = await transform({ srcMap: map, content: patient })
    expect(own.body.implicitRules).toBe(service.url)
    const given = await transform({ srcMap: map, content: patient, context: '{"base_url":"http://elsewhere.example"}' })
    expect(given.body.implicitRules).toBe('http://elsewhere.example')
  })
})

describe('what is wrong is said', () => {
  test('with every mistake of a map, its place, and a way out', async () => {
    const { status, body } = await transform({
      srcMap: toBasic('src.nmae -> tgt.id;\n    src.id -> tgt.idd;'),
      content: patient,
    })
    expect(status).toBe(422)
    expect(body.issue.map((each: { diagnostics: string }) => each.diagnostics)).toEqual([
      expect.stringContaining('Patient has no element `nmae`; did you mean `name`?'),
      expect.stringContaining('Basic has no element `idd`; did you mean `id`?'),
    ])
    expect(body.issue[0].expression ?? body.issue[0].location).toEqual(['map:9:9'])
  })

  test('with the rule and the path in the data, and without the data', async () => {
    const { status, body } = await transform({
      srcMap: toBasic('src.name first as n -> tgt.id = (n.family);'),
      content: { ...patient, name: [{ family: 'Fouda Amina' }] },
    })
    expect(status).toBe(422)
    expect(body.issue[0].diagnostics).toContain('this is not of the form of an id (at Patient.name[0])')
    expect(JSON.stringify(body)).not.toContain('Fouda')
  })

  test('by the name of the map, not by the place of its file on the machine of the service', async () => {
    const content = { id: 'a', patient_id: 'p', substance: 'x', severity: 'lethal', status: 'active' }
    const own = await transform({ source: `${maps}/allergy-to-fhir`, content })
    const debug = await transform({ source: `${maps}/allergy-to-fhir`, content }, 'StructureMap/$transform?debug=true')
    const importing = `
      imports "${maps}/allergy-to-fhir"
      uses "${shapes}/AllergyRecord" alias AllergyRecord as source
      uses "${r4}/AllergyIntolerance" alias AllergyIntolerance as target
      group Main(source src : AllergyRecord, target tgt : AllergyIntolerance) { src -> tgt then AllergyToFhir(src, tgt); }`
    const imported = await transform({ srcMap: importing, content })
    expect(own.body.issue[0].diagnostics).toMatch(/^allergy-to-fhir\.fml:\d+:\d+: rule "severity" of AllergySeverity/)
    for (const { text } of [own, debug, imported]) {
      expect(text).toContain('allergy-to-fhir.fml:')
      expect(text).not.toMatch(/[/\\](?:mappings|tmp)[/\\]/)
      expect(text).not.toContain('mappings/')
    }
  })

  test.each([
    ['content is missing', { srcMap: toBasic('') }, 400, 'content is missing'],
    ['no map is named', { content: patient }, 400, 'The map is missing'],
    ['two maps are named', { srcMap: toBasic(''), source: 'http://a', content: patient }, 400, 'Specify the map once'],
    ['the map is not known', { source: 'http://maps.example/none', content: patient }, 404, 'http://maps.example/none'],
    ['the content is no JSON', { srcMap: toBasic(''), content: '{"a":' }, 400, 'content must be a JSON object'],
    ['a parameter is not known', { srcMap: toBasic(''), content: patient, speed: 'fast' }, 400, 'speed'],
    [
      'the content is of another type',
      { srcMap: toBasic(''), content: { resourceType: 'Observation' } },
      422,
      'must be a Patient, not a Observation',
    ],
  ])('when %s', async (_case, given, status, message) => {
    const answer = await transform(given)
    expect(answer.status, answer.text).toBe(status)
    expect(answer.body.resourceType).toBe('OperationOutcome')
    expect(answer.text).toContain(message)
  })

  test('when the token opens no StructureMap', async () => {
    const token = await service.application.identity.tokens.mint(
      { clientId: 'demo', organizationId: 'demo', consentExempt: true },
      ['system/Patient.rs'],
    )
    const { status } = await call('POST', 'StructureMap/$transform', {
      token,
      body: parameters({ srcMap: toBasic(''), content: patient }),
    })
    expect(status).toBe(403)
  })
})

describe('the service stays well', () => {
  test('when a map takes all memory in one step, which no limit of a thread can stop', async () => {
    const tenfold = ".replace('p', 'pppppppppp')".repeat(9)
    const large = toBasic(`src.id as id -> tgt.id = ((%id & 'p')${tenfold}.split('p').count().toString());`)
    const stopped = await transform({ srcMap: large, content: patient })
    expect(stopped.status).toBe(422)
    expect(stopped.body.issue[0].code).toBe('too-costly')
    expect((await transform({ srcMap: toBasic(''), content: patient })).status).toBe(200)
  })

  test('when a map repeats a long text in its result: the result is refused', async () => {
    const content = { ...patient, name: [{ family: 'p'.repeat(1_000_000) }] }
    const rules = Array.from(
      { length: 25 },
      (_, at) => `src.name as n -> tgt.identifier as i, i.value = (%n.family) "r${at}";`,
    )
    for (const debug of [false, true]) {
      const asked = { srcMap: toBasic(rules.join('\n')), content }
      const { status, text } = await transform(asked, `StructureMap/$transform?debug=${debug}`)
      expect([status, text.length < 500_000]).toEqual([debug ? 200 : 422, true])
      expect(text).toContain('the result has more than 20000000 characters')
    }
  })

  test('when every rule of a map reads a long text: the trace shows its beginning', async () => {
    const content = { ...patient, name: [{ family: 'p'.repeat(1_000_000) }] }
    const rules = Array.from({ length: 10 }, (_, at) => `n.family as f -> tgt.code as c "r${at}";`)
    const asked = { srcMap: toBasic(`src.name as n -> tgt then { ${rules.join('\n')} };`), content }
    const { body, text } = await transform(asked, 'StructureMap/$transform?debug=true')
    expect(partsOf(body, 'trace').length).toBeGreaterThan(10)
    expect(text).toContain('ppp…')
    expect(text.length).toBeLessThan(500_000)
  })

  test('when a map takes too long: it is stopped, and others are served meanwhile and afterwards', async () => {
    const slow = toBasic("src.name as n where n.family.matches('^(([a-z])+.)+[A-Z]([a-z])+$') -> tgt.id = 'x';")
    const content = { ...patient, name: [{ family: 'a'.repeat(60) }] }
    const [stopped, read] = await Promise.all([
      transform({ srcMap: slow, content }),
      call('GET', 'metadata').then(({ status }) => status),
    ])
    expect(read).toBe(200)
    expect(stopped.status).toBe(422)
    expect(stopped.body.issue[0].code).toBe('too-costly')
    const { status } = await transform({ srcMap: toBasic('src.id -> tgt.id;'), content: patient })
    expect(status).toBe(200)
  })

  test('when names of data and of elements are those that JavaScript uses itself', async () => {
    const content = JSON.stringify(patient).replace('"gender"', '"__proto__":{"polluted":true},"gender"')
    const map = `
      group Any(source src, target tgt) {
        src.constructor -> tgt.code;
        src.name -> tgt.name;
      }`
    const { body } = await transform({ srcMap: map, content })
    expect(body.name).toMatchObject({ family: 'Fouda' })
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('and decimals keep the digits they were written with', async () => {
    const map = `
      uses "${r4}/Quantity" alias Quantity as source
      uses "${r4}/Observation" alias Observation as target
      group ToObservation(source src : Quantity, target tgt : Observation) {
        src -> tgt.status = 'final', tgt.code = cc('weight'), tgt.value = src;
      }`
    const { text } = await transform({ srcMap: map, content: '{"value": 71.50, "unit": "kg"}' })
    expect(text).toContain('"value":71.50')
  })
})

describe('debug=true', () => {
  test('answers with the outcome, the result as text, the map, and what every rule did', async () => {
    const map = toBasic('src.name as n log (\'a name\') -> tgt.id = (n.family.lower()) "family";')
    const { status, body } = await transform({ srcMap: map, content: patient }, 'StructureMap/$transform?debug=true')
    expect(status).toBe(200)
    expect(body.parameter.map((each: Part) => each.name)).toEqual(['outcome', 'result', 'parameters', 'trace'])
    expect(JSON.parse(body.parameter[1].valueString)).toMatchObject({ resourceType: 'Basic', id: 'fouda' })
    const [evaluator, made] = partsOf(body, 'parameters')
    expect(evaluator?.valueString).toMatch(/^health-interop \d/)
    expect(made?.resource).toMatchObject({ resourceType: 'StructureMap', url: 'http://maps.example/to-basic' })
    const trace = partsOf(body, 'trace')
    expect(trace).toContainEqual({ name: 'info', valueString: 'a name' })
    expect(trace.some(each => each.valueString?.includes('ToBasic "family" Patient.name[0]'))).toBe(true)
  })

  test('says what is wrong in the outcome', async () => {
    const { status, body } = await transform(
      { srcMap: toBasic('src.nmae -> tgt.id;'), content: patient },
      'StructureMap/$transform?debug=true',
    )
    expect(status).toBe(200)
    expect(body.parameter[0].resource.issue[0]).toMatchObject({ severity: 'error' })
    expect(body.parameter.some((each: Part) => each.name === 'result')).toBe(false)
  })
})

test('a batch can transform as well', async () => {
  const entry = [
    {
      request: { method: 'POST', url: 'StructureMap/$transform' },
      resource: parameters({ srcMap: toBasic('src.id -> tgt.id;'), content: patient }),
    },
  ]
  const { body } = await call('POST', '', { body: { resourceType: 'Bundle', type: 'batch', entry } })
  expect(body.entry[0].resource).toMatchObject({ resourceType: 'Basic', id: 'p' })
})
