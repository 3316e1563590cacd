"""The page of artefacts and certificates: their JSON Schema as tables."""

import json
from pathlib import Path

SCHEMA = Path(__file__).resolve().parent.parent / "docs/schemas/artefact.schema.json"
DEFINITIONS = json.loads(SCHEMA.read_text())["$defs"]
OPENING = """# Artefacts and certificates

An *artefact* is the file that `--output` of `dpglm fit`, `mean` and `describe` writes, and `model.save` in Python: the results, in full
precision, with the certificate of what they cost. All of it may be published. This page explains every field; it is made from the
[JSON Schema](schemas/artefact.schema.json), against which the tests hold artefacts of all commands.

The field `schema` says what a file is. A field that is not listed here is refused when a file is read, and so is a certificate that claims
less privacy loss than its own releases cost. [What a certificate says](certificates.md) explains how to read one.
"""
TITLES = {
    "fit": "A fitted model",
    "mean": "Means",
    "describe": "A description",
    "group": "A group of a description",
    "column": "A column of a group",
    "certificate": "The certificate",
    "adjacency": "Who is protected",
    "event": "A release",
    "part": "Releases of a part of the rows",
}


def kind(schema: dict, depth: int = 0) -> str:
    """The type of a value in words."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return {"pair": "[low, high]", "number": "estimate and interval"}.get(name) or f"[{name}](#{TITLES[name].lower().replace(' ', '-')})"
    if "const" in schema:
        return f'`"{schema["const"]}"`'
    if "enum" in schema:
        return ", ".join("null" if value is None else f'`"{value}"`' for value in schema["enum"])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    said = {"string": "text", "boolean": "true or false", "integer": "whole number", "number": "number", "null": "null"}
    words = []
    for word in kinds:
        if word == "array":
            words.append(f"list of {kind(schema['items'], depth + 1)}")
        elif word == "object" and isinstance(schema.get("additionalProperties"), dict):
            words.append(f"{kind(schema['additionalProperties'], depth + 1)} by name")
        else:
            words.append("object" if word == "object" else said[word])
    return " or ".join(words)


def meaning(field: dict) -> str:
    """What a field means that only refers to a definition."""
    description = (DEFINITIONS[field["$ref"].rsplit("/", 1)[1]] if "$ref" in field else {"description": "which kind of release it is"})["description"]
    return description[0].lower() + description[1:]


def rows(schema: dict, before: str = "") -> list[str]:
    lines = []
    for name, field in schema["properties"].items():
        always = "always" if name in schema["required"] else ""
        lines.append(f"| `{before}{name}` | {kind(field)} | {always} | {field.get('description') or meaning(field)} |")
        if "properties" in field:
            lines += rows(field, f"{before}{name}.")
    return lines


def table(schema: dict) -> list[str]:
    return ["| field | value | there | meaning |", "| --- | --- | --- | --- |", *rows(schema), ""]


def page() -> str:
    lines = [OPENING]
    for name, title in TITLES.items():
        schema = DEFINITIONS[name]
        lines += [f"## {title}", "", schema["description"] + ".", ""]
        for choice in schema.get("oneOf", []):
            if "enum" in choice:
                lines += [f"{kind(choice)}: {choice['description']}.", ""]
            else:
                lines += [f"{choice['description']}:", "", *table(choice)]
        if "properties" in schema:
            lines += table(schema)
    return "\n".join(lines)
