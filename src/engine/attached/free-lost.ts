import { attachPrefix } from "../../domain/agent/wait.ts";
import type { Lease } from "../../domain/process/process.ts";
import { handBack } from "./hand-back.ts";
import type { HandBackPorts } from "./ports.ts";

/** Gives back the agents whose person is gone: a closed terminal, a killed command, a reboot. True when one is free now. */
export async function freeLostAttachments(ports: HandBackPorts): Promise<boolean> {
  const lost = await lostAttachments(ports);
  for (const lease of lost) await handBack(ports, lease, "gone");
  return lost.length > 0 && (await lostAttachments(ports)).length < lost.length;
}

/** Leases of people whose recorded process is gone. Nothing but that ends one. */
export async function lostAttachments({ store, processes }: HandBackPorts): Promise<readonly Lease[]> {
  return store.read(async (tx) => {
    const lost: Lease[] = [];
    for (const lease of await tx.leases.heldBelow(attachPrefix)) {
      const holder = lease.processId === null ? undefined : await tx.processes.get(lease.processId);
      if (holder === undefined || processes.check(holder) === "gone") lost.push(lease);
    }
    return lost;
  });
}
