#!/usr/bin/env python3
"""otlp_json.py - profiles of OTLP between protobuf and JSON, by Google's protobuf.

    otlp_json.py json IN OUT [indent]   from protobuf; fields of no name are left out
    otlp_json.py protobuf IN OUT        from JSON; so are unknown members

Names, numbers and types are those of profiles.proto and common.proto
(github.com/open-telemetry/opentelemetry-proto, commit ac2c4b5d1f3a).  It shares no code
with the server's reader.  In its JSON bytes are base64, where OTLP has hexadecimal
digits for ids of traces and spans.
"""
import gzip
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

FIELD = descriptor_pb2.FieldDescriptorProto
MESSAGES = {
    "ProfilesData": [("resource_profiles", 1, "*ResourceProfiles"),
                     ("dictionary", 2, "ProfilesDictionary")],
    "ProfilesDictionary": [("mapping_table", 1, "*Mapping"), ("location_table", 2, "*Location"),
                           ("function_table", 3, "*Function"), ("link_table", 4, "*Link"),
                           ("string_table", 5, "*string"),
                           ("attribute_table", 6, "*KeyValueAndUnit"),
                           ("stack_table", 7, "*Stack")],
    "ResourceProfiles": [("scope_profiles", 2, "*ScopeProfiles"), ("schema_url", 3, "string")],
    "ScopeProfiles": [("scope", 1, "InstrumentationScope"), ("profiles", 2, "*Profile"),
                      ("schema_url", 3, "string")],
    "InstrumentationScope": [("name", 1, "string"), ("version", 2, "string")],
    "Profile": [("sample_type", 1, "ValueType"), ("samples", 2, "*Sample"),
                ("time_unix_nano", 3, "fixed64"), ("duration_nano", 4, "uint64"),
                ("period_type", 5, "ValueType"), ("period", 6, "int64"),
                ("profile_id", 7, "bytes"), ("dropped_attributes_count", 8, "uint32"),
                ("attribute_indices", 11, "*int32")],
    "Link": [("trace_id", 1, "bytes"), ("span_id", 2, "bytes")],
    "ValueType": [("type_strindex", 1, "int32"), ("unit_strindex", 2, "int32")],
    "Sample": [("stack_index", 1, "int32"), ("attribute_indices", 2, "*int32"),
               ("link_index", 3, "int32"), ("values", 4, "*int64"),
               ("timestamps_unix_nano", 5, "*fixed64")],
    "Mapping": [("memory_start", 1, "uint64"), ("memory_limit", 2, "uint64"),
                ("file_offset", 3, "uint64"), ("filename_strindex", 4, "int32"),
                ("attribute_indices", 5, "*int32")],
    "Stack": [("location_indices", 1, "*int32")],
    "Location": [("mapping_index", 1, "int32"), ("address", 2, "uint64"),
                 ("lines", 3, "*Line"), ("attribute_indices", 4, "*int32")],
    "Line": [("function_index", 1, "int32"), ("line", 2, "int64"), ("column", 3, "int64")],
    "Function": [("name_strindex", 1, "int32"), ("system_name_strindex", 2, "int32"),
                 ("filename_strindex", 3, "int32"), ("start_line", 4, "int64")],
    "KeyValueAndUnit": [("key_strindex", 1, "int32"), ("value", 2, "AnyValue"),
                        ("unit_strindex", 3, "int32")],
    "AnyValue": [("string_value", 1, "string"), ("bool_value", 2, "bool"),
                 ("int_value", 3, "int64"), ("double_value", 4, "double"),
                 ("bytes_value", 7, "bytes"), ("string_value_strindex", 8, "int32")],
}


def profiles_data():
    proto = descriptor_pb2.FileDescriptorProto(name="profiles.proto", syntax="proto3")
    for name, fields in MESSAGES.items():
        message = proto.message_type.add(name=name)
        if name == "AnyValue":
            message.oneof_decl.add(name="value")
        for field, number, kind in fields:
            f = message.field.add(name=field, number=number)
            f.label = FIELD.LABEL_REPEATED if kind[0] == "*" else FIELD.LABEL_OPTIONAL
            kind = kind.lstrip("*")
            if kind in MESSAGES:
                f.type, f.type_name = FIELD.TYPE_MESSAGE, "." + kind
            else:
                f.type = getattr(FIELD, "TYPE_" + kind.upper())
            if name == "AnyValue":
                f.oneof_index = 0
    pool = descriptor_pool.DescriptorPool()
    pool.Add(proto)
    found = pool.FindMessageTypeByName("ProfilesData")
    # the one way of newer releases, the other of older ones
    get = getattr(message_factory, "GetMessageClass", None)
    return (get or message_factory.MessageFactory(pool).GetPrototype)(found)()


def main():
    command, path, out = sys.argv[1:4]
    data = open(path, "rb").read()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    message = profiles_data()
    if command == "json":
        message.ParseFromString(data)
        indent = int(sys.argv[4]) if len(sys.argv) > 4 else None
        written = json_format.MessageToJson(message, indent=indent).encode()
    else:
        json_format.Parse(data, message, ignore_unknown_fields=True)
        written = message.SerializeToString()
    with open(out, "wb") as f:
        f.write(written)


main()
