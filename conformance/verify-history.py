#!/usr/bin/env python3
"""Verifies an export of Halyard's history without the server, with the standard library alone.

  python3 verify-history.py history.jsonl [--head HASH] [--events received.jsonl] [--secret-key KEY]

"-" reads the export from standard input. Exits with 0 when the history verifies and with 1 when it does not.
The format is described in README.md beside this file.
"""

import argparse
import base64
import hashlib
import hmac
import json
import sys
from datetime import datetime

GENESIS = "0" * 64
COVERED = (
    "actions actorKeyId actorName actorUserId actorUserName afterDigest at beforeDigest "
    "environment level reason review revision subject subjectId version"
).split()


def sha256(text):
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def canonical(value):
    """RFC 8785, as far as texts, whole numbers and null go."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def signing_key(secret):
    """HKDF with SHA-256, no salt, 32 bytes (RFC 5869)."""
    extracted = hmac.new(b"\0" * 32, secret, hashlib.sha256).digest()
    return hmac.new(extracted, b"halyard history checkpoint\x01", hashlib.sha256).digest()


class Verifier:
    def __init__(self, secret=None):
        self.secret = secret
        self.environment = None
        self.chain = GENESIS
        self.head = None
        self.entries = self.pruned = self.unchecked = self.unchained = 0
        self.pruned_until = None
        self.redacted = []
        self.redactions = {}
        self.seen = set()
        self.problems = []

    def add(self, line):
        kind = line.get("type")
        if kind == "history":
            self.environment = line["environment"]
            if line.get("format") != 1:
                self.problems.append("the format of the export is not 1")
        elif kind == "entry":
            self.entry(line)
        elif kind == "checkpoint":
            self.checkpoint(line)
        elif kind == "end":
            self.head = line["head"]
        else:
            self.problems.append("a line is neither an entry nor a checkpoint")

    def entry(self, line):
        self.entries += 1
        name = f"entry {line['id']} ({line['subject']} {line['subjectId']})"
        if line["chain"] is None or line["digest"] is None:
            self.unchained += 1
            return
        if self.unchained:
            self.problems.append(f"{self.unchained} entries before {name} are not part of the chain")
            self.unchained = 0
        for text in ("before", "after"):
            if line[text] is not None and sha256(line[text]) != line[f"{text}Digest"]:
                self.problems.append(f"{name} was changed: {text} does not match its digest")
        covered = {member: line.get(member) for member in COVERED}
        covered["environment"] = self.environment
        content = sha256(canonical(covered))
        statement = self.redactions.pop(line["chain"], None)
        if statement and (statement["digest"], statement["content"]) == (line["digest"], content):
            self.redacted.append(line["id"])
        elif content != line["digest"]:
            self.problems.append(f"{name} was changed: it does not match its digest")
        if sha256(self.chain + line["digest"]) != line["chain"]:
            self.problems.append(f"{name} does not follow the one before it")
        self.chain = line["chain"]
        self.seen.add(self.chain)

    def is_signed(self, line):
        """None without a key. With one, a checkpoint that names another key is not signed: anybody can name one that nobody has."""
        if self.secret is None:
            return None
        if hashlib.sha256(self.secret).hexdigest()[:8] != line["keyId"]:
            return False
        right = hmac.new(signing_key(self.secret), line["statement"].encode(), hashlib.sha256)
        return hmac.compare_digest(right.hexdigest(), line["hmac"])

    def checkpoint(self, line):
        signed = self.is_signed(line)
        try:
            statement = json.loads(line["statement"])
        except ValueError:
            statement = {}
        if signed is None:
            self.unchecked += 1
        known = statement.get("kind") in ("pruned", "redacted")
        if signed is False or not known or statement.get("environment") != self.environment:
            self.problems.append(f"the checkpoint at entry {line['id']} is not signed with the secret key")
        elif statement["kind"] == "redacted":
            self.redactions[statement["chain"]] = statement
        else:
            if statement["from"] != self.chain:
                self.problems.append(f"the checkpoint at entry {line['id']} does not follow")
            self.pruned += statement["entries"]
            self.pruned_until = max(self.pruned_until or 0, statement["lastAt"])
            self.chain = statement["to"]
            self.seen.add(self.chain)

    def end(self):
        if self.head is None:
            self.problems.append("the end of the history is missing")
        elif self.head != self.chain:
            self.problems.append(f"the history ends at {self.chain}, but its head is {self.head}")
        if self.unchained:
            self.problems.append(f"{self.unchained} entries at the end are not part of the chain")
        for chain in self.redactions:
            self.problems.append(f"a checkpoint is about an entry that is not there: {chain}")

    def compare(self, name, chain, at):
        """What a receiver kept must be in the history, unless it is older than what was deleted."""
        if chain in self.seen:
            return
        if at is not None and self.pruned_until is not None and at <= self.pruned_until:
            return
        self.problems.append(f"{name} is not in the history: it was rewritten")


def lines_of(path):
    stream = sys.stdin if path == "-" else open(path, encoding="utf-8")
    with stream:
        for line in stream:
            if line.strip():
                yield json.loads(line)


def main():
    parser = argparse.ArgumentParser(description="Verifies an export of Halyard's history.")
    parser.add_argument("export")
    parser.add_argument("--head", help="a chain that a receiver kept")
    parser.add_argument("--events", help="JSON lines with the events that a receiver kept")
    parser.add_argument("--secret-key", help="Base64: checks the signatures of checkpoints too")
    given = parser.parse_args()
    verifier = Verifier(base64.b64decode(given.secret_key) if given.secret_key else None)
    for line in lines_of(given.export):
        verifier.add(line)
    verifier.end()
    if given.head:
        verifier.compare(f"the head {given.head}", given.head, None)
    if given.events:
        for event in lines_of(given.events):
            if event.get("chain"):
                made = datetime.fromisoformat(event["createdAt"].replace("Z", "+00:00"))
                at = round(made.timestamp() * 1000)
                verifier.compare(f"the event {event['id']}", event["chain"], at)
    for problem in verifier.problems:
        print("BREAK ", problem)
    print(
        f"{verifier.environment}: {verifier.entries} entries, {verifier.pruned} deleted after their retention, "
        f"{len(verifier.redacted)} redacted, {verifier.unchecked} signatures not checked"
    )
    print(f"Head: {verifier.chain}")
    print("The history does not verify." if verifier.problems else "The history verifies.")
    return 1 if verifier.problems else 0


if __name__ == "__main__":
    sys.exit(main())
