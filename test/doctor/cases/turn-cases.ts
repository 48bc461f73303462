import { dead } from "../doctor.world.ts";
import { type Case, putLease, putMail, putProcess, putToken, putTurn, runId, settledTurn } from "./planting.ts";

/** Turns, processes, leases, tokens, mail in hand, money set aside. */
export const turnCases: readonly Case[] = [
  {
    name: "a queued turn of an ended agent",
    finds: "queued-turn-of-ended-agent:turn-q",
    make: (w) => putTurn(w, "turn-q", "hands", "queued"),
  },
  {
    name: "a running turn of an ended agent",
    finds: "running-turn-of-ended-agent:turn-r",
    make: (w) => putTurn(w, "turn-r", "frees", "running"),
  },
  {
    name: "a running turn of an ended agent whose program lives",
    finds: "running-turn-of-ended-agent:turn-l",
    make: (w) => {
      putTurn(w, "turn-l", "hands2", "running");
      putProcess(w, "process-l", { role: "agent", agent: "hands2", turn: "turn-l", alive: true });
    },
  },
  {
    name: "the record of a supervisor that is gone",
    finds: "record-of-gone-process:process-s",
    make: (w) => putProcess(w, "process-s", { role: "supervisor", agent: "hands", turn: settledTurn(w, "hands") }),
  },
  {
    name: "the record of an agent's program that is gone",
    finds: "record-of-gone-process:process-a",
    make: (w) => putProcess(w, "process-a", { role: "agent", agent: "hands", turn: "turn-none" }),
  },
  {
    name: "the record of an engine that is gone",
    finds: "record-of-gone-process:process-e",
    make: (w) => putProcess(w, "process-e", { role: "engine" }),
  },
  {
    name: "the record of a gate that is gone",
    finds: "record-of-gone-gate:process-g",
    make: (w) => putProcess(w, "process-g", { role: "gate" }),
  },
  {
    name: "a gate that lives without an engine",
    finds: "gate-without-engine:process-h",
    make: (w) => putProcess(w, "process-h", { role: "gate", alive: true }),
  },
  {
    name: "a program that outlived its turn",
    finds: "process-of-ended-turn:process-o",
    make: (w) =>
      putProcess(w, "process-o", { role: "agent", agent: "waits", turn: settledTurn(w, "waits"), alive: true }),
  },
  {
    name: "a program of a turn that is not on record",
    finds: "process-of-ended-turn:process-n",
    make: (w) => putProcess(w, "process-n", { role: "agent", agent: "waits", turn: "turn-none", alive: true }),
  },
  {
    name: "a program of an ended agent",
    finds: "process-of-ended-turn:process-p",
    make: (w) => putProcess(w, "process-p", { role: "agent", agent: "frees", alive: true }),
  },
  {
    name: "the lease of an ended turn",
    finds: "lease-of-ended-turn:turn:",
    make: (w) => putLease(w, `turn:${settledTurn(w, "waits")}`, null),
  },
  {
    name: "the lease of a turn that is not on record",
    finds: "lease-of-ended-turn:turn:turn-none",
    make: (w) => putLease(w, "turn:turn-none", null),
  },
  {
    name: "the engine's lease in the hand of a process that is not on record",
    finds: "lease-of-the-dead:engine",
    make: (w) => putLease(w, "engine", "process-none"),
  },
  {
    name: "a token of an ended turn",
    finds: "token-of-ended-turn:aaaaaaaaaaaa",
    make: (w) => putToken(w, "a".repeat(64), "waits", settledTurn(w, "waits")),
  },
  {
    name: "a token of an ended agent",
    finds: "token-of-ended-turn:bbbbbbbbbbbb",
    make: (w) => putToken(w, "b".repeat(64), "hands", null),
  },
  {
    name: "a token of a turn that is not on record",
    finds: "token-of-ended-turn:cccccccccccc",
    make: (w) => putToken(w, "c".repeat(64), "waits", "turn-none"),
  },
  {
    name: "mail that an ended turn has claimed",
    finds: "mail-of-ended-turn:hands/",
    make: (w) =>
      putMail(w, "mail-1", "hands", {
        state: "claimed",
        turn_id: settledTurn(w, "hands"),
        claimed_by: settledTurn(w, "hands"),
      }),
  },
  {
    name: "mail that was handed to an ended turn and is not settled",
    finds: "mail-of-ended-turn:frees/",
    make: (w) =>
      putMail(w, "mail-2", "frees", {
        state: "delivered",
        turn_id: settledTurn(w, "frees"),
        claimed_by: settledTurn(w, "frees"),
      }),
  },
  {
    name: "mail that is claimed by no turn",
    finds: "mail-of-ended-turn:hands2/",
    make: (w) => putMail(w, "mail-3", "hands2", { state: "claimed", turn_id: "turn-none", claimed_by: "turn-none" }),
  },
  {
    name: "money set aside for an ended turn",
    finds: "reservation-of-ended-turn:turn-gone",
    make: (w) =>
      w.put("budget_reservations", {
        turn_id: "turn-gone",
        scope: "run",
        subject: runId(w),
        unit: "tokens",
        amount: 5,
      }),
  },
  {
    name: "a readable copy of a turn that does not run",
    finds: "mirror-of-ended-turn:hands",
    make: (w) => w.file("agents/hands/turn.pid", JSON.stringify({ ...dead, turnId: "turn-none" })),
  },
];
