// The first page of the portal: where everything is that the user may do.
import type { Route } from '../../http/route.ts'
import { html } from './html.ts'
import { page } from './page.ts'
import { isOpenTo, sections } from './sections.ts'

export const homePage: Route = page({
  path: '/portal',
  name: 'portalHome',
  title: 'home.title',
  roles: [],
  show(_request, { t, caller }) {
    const open = sections.filter(section => isOpenTo(caller, section.roles))
    return html`<p>${t('home.signed_in', { email: caller.email, organization: caller.organizationId })}
${t('home.roles', { roles: caller.roles.map(each => t(`role.${each}`)).join(', ') })}</p>
<ul class="cards">${open.map(
      ({ path, title, about }) => html`<li><a href="${path}"><strong>${t(title)}</strong></a><p>${t(about)}</p></li>\n`,
    )}</ul>`
  },
})
