
/*
 * Every difference between versions of nginx that the module has to know, and
 * nothing else: 1.22.1 to current mainline.
 */

#ifndef _NGX_HTTP_RELAY_COMPAT_H_INCLUDED_
#define _NGX_HTTP_RELAY_COMPAT_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


#if (nginx_version < 1022000)
#error the relay module requires nginx 1.22.0 or newer
#endif


/*
 * Since 1.23.0 headers of one name are linked, and whoever pushes a header on
 * a list ends the link.
 */

#if (nginx_version >= 1023000)
#define ngx_http_relay_header_end(h)  (h)->next = NULL
#else
#define ngx_http_relay_header_end(h)
#endif


#endif /* _NGX_HTTP_RELAY_COMPAT_H_INCLUDED_ */
