// The places of the demo set: two facilities on the map, the departments of the hospital, a ward and its beds.
import type { JsonObject } from '../lib/json.ts'
import { code, coding, network, organization, reference, terminology } from './fhir.ts'

/** A small facility of the same network. */
const healthCentre = 'centre-de-sante-etoudi'

export const departments = {
  emergency: 'hcy-emergency',
  outpatients: 'hcy-outpatients',
  ward: 'hcy-maternity',
} as const
export const occupiedBed = 'hcy-maternity-bed-1'

export function demoPlaces(): JsonObject[] {
  return [
    { resourceType: 'Organization', id: network, active: true, name: 'Réseau de santé de démonstration' },
    facility(organization, 'Hôpital Central de Yaoundé'),
    facility(healthCentre, "Centre de santé d'Étoudi"),
    site('hcy-site', organization, 'Hôpital Central de Yaoundé', 3.8697, 11.5102),
    site('etoudi-site', healthCentre, "Centre de santé d'Étoudi", 3.9175, 11.5298),
    place(departments.emergency, 'Urgences', 'ER', 'Emergency room'),
    place(departments.outpatients, 'Consultations externes', 'OF', 'Outpatient facility'),
    place(departments.ward, 'Maternité', 'HU', 'Hospital unit'),
    bed(1, 'O', 'Occupied'),
    bed(2, 'U', 'Unoccupied'),
    bed(3, 'H', 'Housekeeping'),
    ...Object.entries(services).map(([id, [name, location]]) => healthcareService(id, name, location)),
  ]
}

const services: Readonly<Record<string, readonly [name: string, location: string]>> = {
  'hcy-emergency-care': ['Urgences', departments.emergency],
  'hcy-maternity-care': ['Maternité', departments.ward],
}

function facility(id: string, name: string): JsonObject {
  return {
    resourceType: 'Organization',
    id,
    active: true,
    name,
    partOf: reference('Organization', network),
    address: [{ city: 'Yaoundé', country: 'CM' }],
  }
}

function site(id: string, owner: string, name: string, latitude: number, longitude: number): JsonObject {
  return {
    resourceType: 'Location',
    id,
    status: 'active',
    name,
    mode: 'instance',
    physicalType: coding(`${terminology}/location-physical-type`, 'si', 'Site'),
    position: { latitude, longitude },
    managingOrganization: reference('Organization', owner),
  }
}

function place(id: string, name: string, type: string, display: string): JsonObject {
  return {
    resourceType: 'Location',
    id,
    status: 'active',
    name,
    mode: 'instance',
    type: [coding(`${terminology}/v3-RoleCode`, type, display)],
    physicalType: coding(`${terminology}/location-physical-type`, 'wa', 'Ward'),
    managingOrganization: reference('Organization', organization),
    partOf: reference('Location', 'hcy-site'),
  }
}

function bed(number: number, status: string, display: string): JsonObject {
  return {
    resourceType: 'Location',
    id: `hcy-maternity-bed-${number}`,
    status: 'active',
    operationalStatus: { system: `${terminology}/v2-0116`, code: status, display },
    name: `Maternité, lit ${number}`,
    mode: 'instance',
    physicalType: coding(`${terminology}/location-physical-type`, 'bd', 'Bed'),
    managingOrganization: reference('Organization', organization),
    partOf: reference('Location', departments.ward),
  }
}

function healthcareService(id: string, name: string, location: string): JsonObject {
  return {
    resourceType: 'HealthcareService',
    id,
    active: true,
    providedBy: reference('Organization', organization),
    name,
    location: [reference('Location', location)],
    availableTime: [{ allDay: true }],
    referralMethod: [code(`${terminology}/service-referral-method`, 'phone')],
  }
}
