internal import Sidecar

Martlet.main(adding: [TenantPlan.kind])
