import { type DeliveryPolicy, defaultDeliveryPolicy } from "../../domain/mail/delivery.ts";
import { defaultMailLimits, type MailLimits } from "../../domain/mail/limits.ts";
import type { Settings } from "../../ports/settings.ts";

/** The limits of sending as this project sets them. */
export const limitsOf = ({ mail }: Settings): MailLimits => ({
  ...defaultMailLimits,
  perMinute: mail.rateLimits.perMinute,
  groupsPerMinute: mail.rateLimits.broadcastPerMinute,
  maxHop: mail.hopLimit,
  maxBodyBytes: mail.maxBodyBytes,
});

/** Leases and attempts as this project sets them. */
export const deliveryPolicyOf = ({ mail }: Settings): DeliveryPolicy => ({
  ...defaultDeliveryPolicy,
  leaseMs: mail.leaseMs,
  maxAttempts: mail.maxAttempts,
});
