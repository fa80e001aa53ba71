# Hashes, sorts, regular expressions, big numbers, closures and eval, each checked against another way to the same.
use strict;
use warnings;
my $rounds = shift // 100;
my ($x, %seen, @log) = (12345);
sub rnd { $x = ($x * 1103515245 + 12345) % 2147483648; return $x % shift }
for my $round (1 .. $rounds) {
    my @n = map { rnd(1000) } 1 .. 40;
    my @s = sort { $a <=> $b } @n;
    my %h;
    $h{$_}++ for @n;
    my @f = map { ($_) x $h{$_} } sort { $a <=> $b } keys %h;
    die "sort in round $round" unless "@f" eq "@s";
    my $t = join ',', map { sprintf '%03d', $_ } @s;
    my $again = 0;
    $again += $1 while $t =~ /(\d+)/g;
    my $sum = 0;
    $sum += $_ for @n;
    die "sum in round $round" unless $again == $sum;
    (my $r = reverse $t) =~ tr/0-9/a-j/;
    $seen{substr $r, 0, 2}++;
    my $made = do { my $k = $round; sub { $_[0] * $k + sqrt($k) } };
    push @log, sprintf '%.3f', $made->($sum);
    eval { die { code => $round } if $round % 7 == 0; 1 } or $@->{code} == $round or die "eval in round $round";
}
print scalar(keys %seen), " $log[-1] ", unpack('%32C*', join '', @log), "\n";
