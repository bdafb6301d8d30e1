// FHIR resources in XML, read as FHIR JSON. https://hl7.org/fhir/R4/xml.html · https://hl7.org/fhir/R4/json.html

import type { TypeModel } from '../../src/definitions/model.ts'
import { elementByJsonKey, typeModel } from '../../src/definitions/r4.ts'
import { parseXml, type XmlElement } from './xml.ts'

type Json = Record<string, unknown>

/** The resource in an XML document. */
export function fhirFromXml(xml: string): Json {
  return readResource(parseXml(xml))
}

function readResource(element: XmlElement): Json {
  return { resourceType: element.name, ...readComplex(element, knownType(element.name)) }
}

function knownType(name: string): TypeModel {
  const model = typeModel(name)
  if (!model) throw new Error(`${name} is not an R4 type`)
  return model
}

function readComplex(element: XmlElement, type: TypeModel): Json {
  const json: Json = {}
  if (element.attributes.id !== undefined) json.id = element.attributes.id
  if (element.attributes.url !== undefined) json.url = element.attributes.url
  for (const child of element.children) readChild(json, child, type)
  return json
}

function readChild(json: Json, child: XmlElement, type: TypeModel): void {
  const key = elementByJsonKey(type.name, child.name)
  if (!key) throw new Error(`${type.name} has no element ${child.name}`)
  const many = key.element.max > 1
  const childType = knownType(key.type)
  if (key.type === 'xhtml') json[child.name] = child.source
  else if (childType.kind === 'primitive') readPrimitive(json, child, childType, many)
  else
    add(
      json,
      child.name,
      key.type === 'Resource' ? readResource(child.children[0]!) : readComplex(child, childType),
      many,
    )
}

function readPrimitive(json: Json, child: XmlElement, type: TypeModel, many: boolean): void {
  const { value, ...rest } = child.attributes
  const sibling = readComplex({ ...child, attributes: rest }, type)
  const hasSibling = Object.keys(sibling).length > 0
  if (!many) {
    if (value !== undefined) json[child.name] = primitiveValue(value, type.name)
    if (hasSibling) json[`_${child.name}`] = sibling
    return
  }
  const position = Array.isArray(json[child.name]) ? (json[child.name] as unknown[]).length : 0
  add(json, child.name, value === undefined ? null : primitiveValue(value, type.name), true)
  if (hasSibling || Array.isArray(json[`_${child.name}`])) {
    const siblings = (json[`_${child.name}`] ??= []) as unknown[]
    while (siblings.length < position) siblings.push(null)
    siblings.push(hasSibling ? sibling : null)
  }
}

const NUMBERS = new Set(['integer', 'positiveInt', 'unsignedInt', 'decimal'])

function primitiveValue(text: string, type: string): unknown {
  if (type === 'boolean') return text === 'true'
  return NUMBERS.has(type) ? Number(text) : text
}

function add(json: Json, name: string, value: unknown, many: boolean): void {
  if (!many) json[name] = value
  else if (Array.isArray(json[name])) (json[name] as unknown[]).push(value)
  else json[name] = [value]
}
