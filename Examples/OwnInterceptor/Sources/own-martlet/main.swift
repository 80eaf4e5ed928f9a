internal import Sidecar

Martlet.main(adding: [TenantInterceptor.kind])
