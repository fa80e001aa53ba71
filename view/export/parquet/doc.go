// Package parquet writes frames as a file in the format Apache Parquet: a column for each of package export, typed, with nulls for
// what a frame does not have.
//
//	"PAR1", row groups, metadata, length of the metadata u32, "PAR1"
//	row group:  for each column a page: its header, and compressed the definition levels and the values that are known
//
// It writes the part of the format that every reader has: one flat schema of optional columns, pages of version 1, plain encoding,
// zstd. Headers and metadata are structures of Thrift in its compact protocol. All numbers are little endian. The format's
// description is https://github.com/apache/parquet-format.
//
// A row group is gathered in memory and written when it is large; of those that are written only places and sizes are kept.
package parquet
